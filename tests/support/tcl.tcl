# tcl.py's half in Tcl: SCRIPT QUESTIONS ANSWERS COMMAND...: sources the script; each command is put as a question, one
# line of words in hexadecimal behind an x, and answered by one line: 0 or 1 (an error), and the result.
set questions [open [lindex $argv 1] w]
set answers [open [lindex $argv 2] r]
fconfigure $questions -buffering line

proc ask {args} {
    puts $::questions [join [lmap word $args {string cat x [binary encode hex [encoding convertto utf-8 $word]]}]]
    if {[gets $::answers answer] < 0} {leave 1} ;# the parent is gone
    return -code [lindex $answer 0] [encoding convertfrom utf-8 [binary decode hex [string range [lindex $answer 1] 1 end]]]
}

rename exit leave
foreach command [lrange $argv 3 end] {
    interp alias {} $command {} ask $command
}
if {[catch {source [lindex $argv 0]} message]} {
    ask {} $message
    leave 1
}
leave 0
