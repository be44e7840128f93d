import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { closeSync, openSync, writeSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { TelemetryBatch } from '@int/codec';

/** The bundle lies in benchmarks/dist. */
const PROGRAMS = fileURLToPath(new URL('../native/build/', import.meta.url));
/** A batch's first byte lies at the start of its buffer, and this much behind its last is only there for alignment. */
const SLACK = 64;

/** Writes batches in the file format of `benchmarks/native/twins/detect_bench.c`. Each must have a buffer of its own. */
export function writeBatches(path: string, batches: readonly TelemetryBatch[]): void {
  const { capacity, buffer } = batches[0]!;
  const size = buffer.byteLength - SLACK;
  const header = new Uint32Array(16);
  header.set([0x43544e49, batches.length, capacity.frames, capacity.reports, capacity.hops, size]);
  const file = openSync(path, 'w');
  try {
    writeSync(file, header);
    for (const batch of batches) {
      let rest = new Uint8Array(batch.buffer, 0, size);
      while (rest.length > 0) rest = rest.subarray(writeSync(file, rest));
    }
  } finally {
    closeSync(file);
  }
}

/** What turns over all reports came to. */
export interface Outcome {
  readonly reports: number;
  readonly survivors: number;
  readonly events: number;
  readonly checksum: number;
}

/** The C detectors, kept running, that make and time turns over the file whenever they are asked. */
export class NativeDetectors {
  readonly #process: ChildProcessWithoutNullStreams;
  readonly #lines: AsyncIterator<string>;

  constructor(program: string, path: string) {
    this.#process = spawn(`${PROGRAMS}${program}`, [path]);
    this.#process.stderr.pipe(process.stderr);
    this.#lines = createInterface({ input: this.#process.stdout })[Symbol.asyncIterator]();
  }

  async #ask(command: string): Promise<string> {
    this.#process.stdin.write(`${command}\n`);
    const next = await this.#lines.next();
    if (next.done) throw new Error('the C program ended');
    return next.value;
  }

  /** A new rule, with zeroed state. */
  async rule(command: string): Promise<void> {
    await this.#ask(command);
  }

  /** Makes turns over all reports and goes through the events. */
  async check(turns: number): Promise<Outcome> {
    return JSON.parse(await this.#ask(`check ${turns}`)) as Outcome;
  }

  /** @returns nanoseconds per report of so many turns */
  async pass(turns: number): Promise<number> {
    return Number(await this.#ask(`pass ${turns}`));
  }

  stop(): void {
    this.#process.stdin.end();
  }
}
