// A flushable pipeline of another pace than an iteration a cycle: registers for the iterations inside, the oldest first,
// each with the number of cycles since it entered.
module queued_pipeline #(
    parameter int LATENCY = 2,
    parameter int SLOTS = 1
) (
    input logic clk,
    input logic rst,
    input logic turn,
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
    int age[SLOTS];
    int held, staying;

    assign wants_tokens = turn;
    assign wants_room = held != 0 && age[0] >= LATENCY - 1;
    assign leave = wants_room && room;
    assign staying = held - (leave ? 1 : 0);
    assign is_empty = turn && !tokens;
    assign is_full = turn && tokens && staying == SLOTS;
    assign enter = turn && tokens && staying != SLOTS;
    assign event_now = enter || leave;

    always_ff @(posedge clk) begin
        if (rst) begin
            held <= 0;
        end else begin
            held <= staying + (enter ? 1 : 0);
            for (int i = 0; i < SLOTS; i++) begin
                if (enter && i == staying) age[i] <= 1;
                else if (leave && i + 1 < SLOTS) age[i] <= age[(i+1)%SLOTS] + 1;
                else age[i] <= age[i] + 1;
            end
        end
    end
endmodule
