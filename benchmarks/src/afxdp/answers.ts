/** A receiver's end of its conversation with the benchmark, as `benchmarks/native/receivers/work.c` has it. */

export function ready(): void {
  process.stdout.write('{"ready":true}\n');
}

/** Answers each line on standard input with a line of JSON; ends with its end. */
export function answerOnInput(answer: () => object): void {
  process.stdin.on('data', () => {
    const { user, system } = process.cpuUsage();
    process.stdout.write(`${JSON.stringify({ ...answer(), userNs: user * 1000, systemNs: system * 1000 })}\n`);
  });
  // `process.exit` would wait for ever for a file that is being written: its engine waits for rows from here.
  process.stdin.on('end', () => process.kill(process.pid, 'SIGKILL'));
}
