// ap_wait(): a clock edge that HLS moves nothing across, within a region of a protocol. C has no clock.
#pragma once

inline void ap_wait() {}
inline void ap_wait_n(int) {}
