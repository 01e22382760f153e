#!/usr/bin/env bash
# enter.sh ROOT UID [SOURCE=TARGET...] -- COMMAND...: runs the command in ROOT as that user. Called by chroot.py in
# namespaces of its own: whatever happens, what is mounted here and what was started ends with the command. SOURCE is a
# folder, mounted read-only, or the image of a disk.
set -euo pipefail
root=$1 user=$2
shift 2
mount --bind "$root" "$root" # who takes memory of its own (worker/limits/shared_memory.py) mounts "/" anew
mount -t proc proc "$root/proc"
mount --rbind /sys "$root/sys"
mount --rbind /dev "$root/dev"
mount -t tmpfs -o mode=1777 tmpfs "$root/dev/shm"
while [ "$1" != -- ]; do
    source=${1%%=*} target=$root${1#*=}
    mkdir -p "$target"
    if [ -d "$source" ]; then
        mount --bind "$source" "$target"
        mount -o remount,bind,ro "$target"
    else
        mount -o loop "$source" "$target"
        chown "$user" "$target"
    fi
    shift
done
shift
trap : INT TERM # are for the command; this is the namespace's first process, with which all others end
status=0
chroot --userspec="$user:$user" "$root" "$@" || status=$?
exit "$status"
