// When the next iteration of a flushable pipeline may enter: II / PER cycles after the one before, and what a new run
// adds. `ahead` is the time until then in 1/PER cycles; the turn came in this very cycle if it is above -PER.
module turn_counter #(
    parameter int II = 1,
    parameter int PER = 1,
    parameter int FIRST = 0, // turn of the first iteration
    parameter bit DRAINS = 1
) (
    input logic clk,
    input logic rst,
    input logic in_done,
    input logic enter,
    input logic in_run_ends,
    input logic leave,
    input logic out_run_ends,
    input int in_gap, // to the run behind that of the iteration that enters next, or leaves next, in 1/PER cycles
    input int out_gap,
    output logic turn
);
    /* verilator no_inline_module */
    int ahead, ahead_next;
    logic draining;

    assign turn = !in_done && !draining && ahead <= 0;

    always_comb begin
        ahead_next = ahead > -PER ? ahead - PER : ahead;
        if (enter) ahead_next = (ahead > -PER ? ahead : 0) + II - PER + (in_run_ends && !DRAINS ? in_gap : 0);
        if (draining && leave && out_run_ends && ahead_next < out_gap) ahead_next = out_gap;
    end

    always_ff @(posedge clk) begin
        if (rst) begin
            ahead <= FIRST;
            draining <= 0;
        end else begin
            ahead <= ahead_next;
            if (enter && in_run_ends && DRAINS) draining <= 1;
            else if (leave && out_run_ends) draining <= 0;
        end
    end
endmodule
