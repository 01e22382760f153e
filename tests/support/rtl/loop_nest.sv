// The counters of a nest of up to five loops, outermost first; those that are missing have one iteration.
module loop_nest #(
    parameter int T0 = 1,
    parameter int T1 = 1,
    parameter int T2 = 1,
    parameter int T3 = 1,
    parameter int T4 = 1,
    parameter int RESTARTS = 0
) (
    input logic clk,
    input logic rst,
    input logic advance,
    output int i0,
    output int i1,
    output int i2,
    output int i3,
    output int i4,
    output logic run_ends, // with the iteration that comes next
    output logic done,
    output int count
);
    /* verilator no_inline_module */
    logic [4:0] at_end; // of loop i: bit i
    assign at_end = {i4 == T4 - 1, i3 == T3 - 1, i2 == T2 - 1, i1 == T1 - 1, i0 == T0 - 1};

    always_comb begin
        run_ends = 1;
        for (int i = RESTARTS; i < 5; i++) run_ends &= at_end[i];
    end

    always_ff @(posedge clk) begin
        if (rst) begin
            {i0, i1, i2, i3, i4, done, count} <= '0;
        end else if (advance) begin
            count <= count + 1;
            i4 <= at_end[4] ? 0 : i4 + 1;
            if (at_end[4]) i3 <= at_end[3] ? 0 : i3 + 1;
            if (&at_end[4:3]) i2 <= at_end[2] ? 0 : i2 + 1;
            if (&at_end[4:2]) i1 <= at_end[1] ? 0 : i1 + 1;
            if (&at_end[4:1]) i0 <= at_end[0] ? 0 : i0 + 1;
            if (&at_end) done <= 1;
        end
    end
endmodule
