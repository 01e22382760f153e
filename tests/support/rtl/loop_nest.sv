// The counters of the nests that a pipeline runs in turn, each of up to seven loops, outermost first; those that are
// missing have one iteration. The trip counts are those of row `entry` of a table, all at least 1.
module loop_nest #(
    parameter int ENTRIES = 1
) (
    input logic clk,
    input logic rst,
    input logic advance,
    input int t0,
    input int t1,
    input int t2,
    input int t3,
    input int t4,
    input int t5,
    input int t6,
    input int restarts, // loops outside the pipeline
    output int entry,
    output int i0,
    output int i1,
    output int i2,
    output int i3,
    output int i4,
    output int i5,
    output int i6,
    output logic run_ends, // with the iteration that comes next
    output logic nest_ends,
    output logic done,
    output int count
);
    /* verilator no_inline_module */
    logic [6:0] at_end; // of loop i: bit i
    assign at_end = {i6 == t6 - 1, i5 == t5 - 1, i4 == t4 - 1, i3 == t3 - 1, i2 == t2 - 1, i1 == t1 - 1, i0 == t0 - 1};
    assign nest_ends = &at_end;
    assign done = entry == ENTRIES;

    always_comb begin
        run_ends = 1;
        for (int i = 0; i < 7; i++) run_ends &= at_end[i] || i < restarts;
    end

    always_ff @(posedge clk) begin
        if (rst) begin
            {i0, i1, i2, i3, i4, i5, i6, entry, count} <= '0;
        end else if (advance) begin
            count <= count + 1;
            i6 <= at_end[6] ? 0 : i6 + 1;
            if (&at_end[6:6]) i5 <= at_end[5] ? 0 : i5 + 1;
            if (&at_end[6:5]) i4 <= at_end[4] ? 0 : i4 + 1;
            if (&at_end[6:4]) i3 <= at_end[3] ? 0 : i3 + 1;
            if (&at_end[6:3]) i2 <= at_end[2] ? 0 : i2 + 1;
            if (&at_end[6:2]) i1 <= at_end[1] ? 0 : i1 + 1;
            if (&at_end[6:1]) i0 <= at_end[0] ? 0 : i0 + 1;
            if (nest_ends) entry <= entry + 1;
        end
    end
endmodule
