import { type ChildProcessWithoutNullStreams, execFileSync, spawn, spawnSync } from 'node:child_process';
import { closeSync, openSync, writeSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { INT_PORT, type Reports } from './shapes.js';

/** The bundle lies in benchmarks/dist. */
const NATIVE = fileURLToPath(new URL('../native/', import.meta.url));

/** Builds the C programs; returns the compiler's name and version, or undefined if there is none. */
export function buildNative(): string | undefined {
  const compiler = process.env.CC ?? 'cc';
  const version = spawnSync(compiler, ['--version'], { encoding: 'utf8' });
  if (version.status !== 0) return undefined;
  execFileSync('make', ['-s', '-C', NATIVE, 'bench'], { stdio: ['ignore', 'ignore', 'inherit'] });
  return version.stdout.split('\n')[0]!;
}

/** Writes reports in the file format of `benchmarks/native/twins/frames_file.h`. */
export function writeFrames(path: string, reports: Reports, batch: { frames: number; hops: number }): void {
  const none = 0x10000;
  const header = Uint32Array.of(
    0x46544e49,
    0,
    none,
    INT_PORT,
    none,
    0,
    1,
    batch.frames,
    batch.frames,
    batch.hops,
    reports.count,
    reports.bytes.length,
    0,
    0,
    0,
    0,
  );
  const file = openSync(path, 'w');
  try {
    for (const part of [header, reports.offsets, reports.lengths, reports.bytes]) {
      let rest = new Uint8Array(part.buffer, part.byteOffset, part.byteLength);
      while (rest.length > 0) rest = rest.subarray(writeSync(file, rest));
    }
  } finally {
    closeSync(file);
  }
}

/** A C decoder, kept running, that times a pass over the file whenever it is asked. */
export class NativeDecoder {
  readonly #process: ChildProcessWithoutNullStreams;
  readonly #lines: AsyncIterator<string>;

  private constructor(program: string, path: string, batch: number) {
    this.#process = spawn(`${NATIVE}build/${program}`, [path, String(batch)]);
    this.#process.stderr.pipe(process.stderr);
    this.#lines = createInterface({ input: this.#process.stdout })[Symbol.asyncIterator]();
  }

  /** Starts the program; its checksum is over all columns of one untimed pass. */
  static async start(
    program: string,
    path: string,
    batch: number,
  ): Promise<{ decoder: NativeDecoder; reports: number; checksum: number }> {
    const decoder = new NativeDecoder(program, path, batch);
    const { reports, checksum } = JSON.parse(await decoder.#line()) as { reports: number; checksum: number };
    return { decoder, reports, checksum };
  }

  async #line(): Promise<string> {
    const next = await this.#lines.next();
    if (next.done) throw new Error('the C decoder ended');
    return next.value;
  }

  /** @returns nanoseconds per report of one pass */
  async pass(): Promise<number> {
    this.#process.stdin.write('\n');
    return Number(await this.#line());
  }

  stop(): void {
    this.#process.stdin.end();
  }
}
