// Clocks the networks until all of them have told how they ended.
#include "Vnetworks.h"
#include "verilated.h"

int main() {
    Vnetworks top;
    top.rst = 1;
    for (long edge = 0; !Verilated::gotFinish(); ++edge) {
        top.clk = edge & 1;
        top.eval();
        if (edge == 3) top.rst = 0;
    }
    top.final();
}
