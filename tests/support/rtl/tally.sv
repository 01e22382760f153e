// Counts the cycles in which something happens, up to the last one that has an event in the network.
module tally (
    input logic clk,
    input logic rst,
    input logic event_now,
    input logic happens,
    output int total
);
    /* verilator no_inline_module */
    int pending;
    int now;
    assign now = pending + (happens ? 1 : 0);

    always_ff @(posedge clk) begin
        if (rst) begin
            {total, pending} <= '0;
        end else begin
            total <= event_now ? total + now : total;
            pending <= event_now ? 0 : now;
        end
    end
endmodule
