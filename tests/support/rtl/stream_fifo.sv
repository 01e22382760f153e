// A FIFO with registered ends: what is written in a cycle can be read in the next, and so can its place be taken again.
// Tokens are numbered, and come out in the order of their numbers.
module stream_fifo #(
    parameter int DEPTH = 2,
    parameter int INITIAL = 0 // tokens before the first cycle, numbered up to -1
) (
    input logic clk,
    input logic rst,
    input logic write,
    output logic full_n,
    input logic read,
    output logic empty_n,
    output int pushed,
    output int popped,
    output int peak
);
    /* verilator no_inline_module */
    int memory[DEPTH];
    int write_at, read_at, stored;
    int stored_next;

    assign empty_n = stored != 0;
    assign full_n = stored != DEPTH;
    assign stored_next = stored + (write ? 1 : 0) - (read ? 1 : 0);

    always_ff @(posedge clk) begin
        if (rst) begin
            {read_at, pushed, popped} <= '0;
            stored <= INITIAL;
            peak <= INITIAL;
            write_at <= INITIAL == DEPTH ? 0 : INITIAL;
            for (int i = 0; i < INITIAL; i++) memory[i] <= i - INITIAL;
        end else begin
            stored <= stored_next;
            if (stored + (write ? 1 : 0) > peak) peak <= stored + (write ? 1 : 0); // what is read is free in the next cycle
            if (write) begin
                memory[write_at] <= pushed;
                write_at <= write_at == DEPTH - 1 ? 0 : write_at + 1;
                pushed <= pushed + 1;
            end
            if (read) begin
                if (memory[read_at] != popped - INITIAL)
                    $fatal(1, "token %0d came as token %0d", memory[read_at], popped - INITIAL);
                read_at <= read_at == DEPTH - 1 ? 0 : read_at + 1;
                popped <= popped + 1;
            end
            if ((write && !full_n) || (read && !empty_n)) $fatal(1, "a FIFO was used that was full or empty");
        end
    end
endmodule
