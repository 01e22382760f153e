// A pipeline with one enable for all its registers: a step waits for each token and each room that it needs.
module stalling_pipeline #(
    parameter int II = 1,
    parameter int LATENCY = 1,
    parameter int FIRST = 0 // first cycle
) (
    input logic clk,
    input logic rst,
    input logic in_done,
    input logic in_run_ends,
    input logic out_done,
    input logic out_run_ends,
    input int in_gap,
    input int out_gap, // cycles to the run behind that of the iteration that leaves next
    input logic tokens,
    input logic room,
    output logic wants_tokens,
    output logic wants_room,
    output logic enter,
    output logic leave,
    output logic event_now,
    output logic is_empty,
    output logic is_full
);
    /* verilator no_inline_module */
    logic [LATENCY:1] stage; // stage[LATENCY] is never used: iterations leave from the stage before
    int phase, pause;
    logic all_in; // of this run
    logic due, takes, lets;

    assign due = !out_done && pause == 0;
    assign takes = phase == 0 && !all_in && !in_done;
    generate
        if (LATENCY == 1) assign lets = takes;
        else assign lets = stage[LATENCY-1];
    endgenerate

    assign wants_tokens = due && takes;
    assign wants_room = due && lets;
    assign is_empty = wants_tokens && !tokens;
    assign is_full = wants_room && !room && !is_empty;
    assign event_now = due && !is_empty && !is_full;
    assign enter = event_now && takes;
    assign leave = event_now && lets;

    always_ff @(posedge clk) begin
        if (rst) begin
            {stage, phase, all_in} <= '0;
            pause <= FIRST;
        end else if (event_now) begin
            stage <= LATENCY'({stage, takes});
            phase <= phase == II - 1 ? 0 : phase + 1;
            if (takes && in_run_ends) all_in <= 1;
            if (lets && out_run_ends) begin
                all_in <= 0;
                phase <= 0;
                pause <= out_gap;
            end
        end else if (pause > 0) begin
            pause <= pause - 1;
        end
    end
endmodule
