// A flushable pipeline that takes an iteration a cycle: registers with a valid bit each, which move on where the one in
// front is free or moves on too.
module elastic_pipeline #(
    parameter int LATENCY = 2
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
    logic [LATENCY-1:1] valid;
    logic [LATENCY:1] ready; // the register can take what is behind it; ready[LATENCY]: the writes find room

    always_comb begin
        ready[LATENCY] = room;
        for (int i = LATENCY - 1; i >= 1; i--) ready[i] = !valid[i] || ready[i+1];
    end

    assign wants_tokens = turn;
    assign wants_room = valid[LATENCY-1];
    assign is_empty = turn && !tokens;
    assign is_full = turn && tokens && !ready[1];
    assign enter = turn && tokens && ready[1];
    assign leave = valid[LATENCY-1] && room;
    assign event_now = enter || leave;

    always_ff @(posedge clk) begin
        if (rst) begin
            valid <= '0;
        end else begin
            if (ready[1]) valid[1] <= enter;
            for (int i = 2; i < LATENCY; i++) if (ready[i]) valid[i] <= valid[i-1];
        end
    end
endmodule
