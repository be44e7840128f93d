import { CaptureSource, Collector, type CollectorOptions, type CollectorTotals, SourceError } from '@int/collector';
import { fromOf, knownOf, type SenderFlags } from '../input/senders.js';
import { endOf } from '../interruption.js';
import { CliError, EXIT, type Io, say, sayHint } from '../io.js';
import type { KnownNetwork } from '../network/known-network.js';
import type { DataOutput } from '../output/data-output.js';
import { DialectHint } from '../output/dialect-hint.js';
import { counted } from '../output/numbers.js';
import { Progress } from '../output/progress.js';

/** One run of a collector over a capture, from opening it to the exit code. */
export class CaptureRun {
  readonly #io: Io;
  readonly #output: DataOutput;
  readonly #collector: Collector;
  readonly #progress: Progress;
  readonly #problems: string[] = [];
  readonly #hint: DialectHint;

  /** @param isDataShown whether data are written meanwhile, which a progress line would disturb */
  constructor(
    file: string,
    network: KnownNetwork,
    parts: Pick<CollectorOptions, 'stages' | 'sinks' | 'memory'>,
    senders: SenderFlags,
    isDataShown: boolean,
    output: DataOutput,
    io: Io,
  ) {
    this.#io = io;
    this.#output = output;
    this.#progress = new Progress(io, isDataShown);
    const { decode } = network.device;
    const process = (): void => this.#progress.update(() => counted(this.received, 'frame'));
    this.#hint = new DialectHint(decode);
    this.#collector = new Collector({
      ...parts,
      sources: [new CaptureSource({ path: file, input: io.stdin, ...fromOf(senders, network) })],
      ...knownOf(senders, network),
      decode,
      stages: [...(parts.stages ?? []), { name: 'progress', process }, this.#hint],
      onProblem: ({ error }) => this.#problems.push(error.message),
    });
  }

  get received(): number {
    return this.#collector.totals().received;
  }

  /** Resolves at the end of the capture, after a signal, or when the output has no reader. @throws CliError (rejects) */
  async run(): Promise<CollectorTotals> {
    await opened(this.#collector.start());
    await endOf(this.#io, this.#output, this.#collector.finished);
    const totals = await this.#collector.stop();
    this.#progress.done();
    return totals;
  }

  /** Ends the output, and tells what was wrong with the capture. @returns the exit code */
  async end({ received, dropped }: CollectorTotals): Promise<number> {
    await this.#output.finish();
    if (this.#output.closed) return EXIT.OK;
    const frames = counted(received, 'frame');
    for (const problem of this.#problems) say(this.#io, `${problem}, after ${frames}`);
    if (this.#io.signal.aborted) say(this.#io, `interrupted after ${frames}`);
    const { truncated, malformed, unsupported } = dropped;
    const wrong = truncated + malformed + unsupported;
    if (wrong > 0) {
      say(this.#io, `of ${frames}, ${truncated} truncated, ${malformed} malformed, ${unsupported} unsupported`);
    }
    sayHint(this.#io, this.#hint);
    return wrong > 0 || this.#problems.length > 0 ? EXIT.INPUT : EXIT.OK;
  }
}

/** Waits for sources to open. @throws CliError (rejects) instead of a SourceError */
export async function opened(opening: Promise<void>): Promise<void> {
  try {
    await opening;
  } catch (error) {
    if (SourceError.is(error)) throw new CliError(error.message, EXIT.OPEN, error);
    throw error;
  }
}
