/** Telemetry from a network interface by AF_XDP, if this machine supports it. `@int/afxdp` is optional. */
import type { XdpMode } from '@int/afxdp';
import type { Prefilter } from '@int/afxdp/prefilter';
import type { XdpSource } from '@int/afxdp/source';
import type { DecodeOptions } from '@int/codec';
import { SourceError } from '@int/collector';
import type { DetectorOptions, RuleSet } from '@int/detect';
import type { Prefix } from '@int/network';
import { given } from '../given.js';
import { CliError, EXIT } from '../io.js';
import { counted } from '../output/numbers.js';
import type { InterfaceQueues } from './interface-queues.js';
import { linkWords, type OnDown } from './link-words.js';
import { portsOf, type TelemetryInput } from './telemetry-input.js';

export type { XdpMode };

/** The command line's options for it. */
export interface XdpFlags extends InterfaceQueues {
  readonly mode: 'auto' | XdpMode;
  readonly onDown: OnDown;
  /** Who may send; default: anybody. */
  readonly from?: readonly Prefix[];
  /** The switches that there are; default: any id may be one. */
  readonly knownSwitches?: readonly number[] | null;
}

/** Thrown if AF_XDP cannot be used on this machine, by this user or with this card. UDP is the alternative. */
export class NoXdp extends Error {
  override readonly name = 'NoXdp';
}

/** Codes of errors that the machine causes, not the request. */
const CANNOT: ReadonlySet<string> = /* @__PURE__ */ new Set([
  'ERR_XDP_PLATFORM',
  'ERR_XDP_NOT_BUILT',
  'ERR_XDP_PERMISSION',
  'ERR_XDP_MEMLOCK',
  'ERR_XDP_NO_DRIVER_SUPPORT',
  'ERR_XDP_KERNEL',
  'ERR_XDP_VERIFIER',
]);

/**
 * Classifies an error on opening an interface.
 * @returns NoXdp if the machine is the cause, CliError if the request is, else the error itself
 */
export function xdpFailure(name: string, error: unknown): unknown {
  if (error instanceof NoXdp || error instanceof CliError) return error;
  const cause = SourceError.is(error) ? error.cause : error;
  if (!(cause instanceof Error)) return error;
  const { code } = cause as NodeJS.ErrnoException;
  if (typeof code === 'string' && code.startsWith('ERR_XDP_')) {
    return CANNOT.has(code)
      ? new NoXdp(cause.message, { cause: error })
      : new CliError(`cannot open ${name}: ${cause.message}`, EXIT.OPEN, error);
  }
  if (cause instanceof RangeError) return new CliError(cause.message, EXIT.USAGE, error);
  return error;
}

/** @throws NoXdp (rejects) if the package is missing */
async function load<T>(module: Promise<T>): Promise<T> {
  try {
    return await module;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code !== 'ERR_MODULE_NOT_FOUND' && code !== 'MODULE_NOT_FOUND') throw error;
    const isMissing = /Cannot find package/.test(message);
    const why = isMissing
      ? 'the package @int/afxdp is not installed. Install it with `npm install @int/afxdp`.'
      : 'the package @int/afxdp is not built. Build it with `npm run build`.';
    throw new NoXdp(why, { cause: error });
  }
}

/** A pre-filter, with the detector's settings behind it. */
export interface RunningPrefilter {
  readonly prefilter: Prefilter;
  /** Options for the detector behind it. */
  readonly detectorOptions: DetectorOptions;
  /** The rules for the detector behind it. */
  readonly rulesBehind: (rules: RuleSet) => RuleSet;
}

/**
 * Loads event detection into the kernel.
 * @throws NoXdp or CliError (rejects)
 */
export async function attachPrefilter(
  flags: XdpFlags,
  rules: RuleSet,
  options: DetectorOptions,
  decode: Omit<DecodeOptions, 'linkType'>,
): Promise<RunningPrefilter> {
  const { Prefilter, rulesBehind } = await load(import('@int/afxdp/prefilter'));
  const { state, flowCells, switchCells, ...rest } = options;
  try {
    const prefilter = Prefilter.attach({
      interface: flags.interface,
      mode: flags.mode,
      ports: portsOf(decode),
      rules,
      state: state === 'exact' ? 'hash' : 'array',
      countHops: false,
      ...given({ from: flags.from }),
      ...(flags.knownSwitches != null && { knownSwitches: flags.knownSwitches }),
      ...(flowCells !== undefined && { flowCells }),
      ...(switchCells !== undefined && { switchCells }),
      ...(decode.intPorts !== undefined && { intPorts: decode.intPorts }),
      ...(decode.intDscp !== undefined && { intDscp: decode.intDscp }),
    });
    return { prefilter, detectorOptions: { ...rest, ...prefilter.detectorOptions }, rulesBehind };
  } catch (error) {
    throw xdpFailure(flags.interface, error);
  }
}

export class XdpInput implements TelemetryInput {
  readonly sources: readonly XdpSource[];
  readonly decode: Omit<DecodeOptions, 'linkType'>;
  readonly isLive = true;
  readonly #source: XdpSource;
  readonly #prefilter: Prefilter | null;

  /** @throws NoXdp (rejects) if the package is missing */
  static async load(
    flags: XdpFlags,
    decode: Omit<DecodeOptions, 'linkType'>,
    prefilter: Prefilter | null,
    tell: (message: string) => void,
  ): Promise<XdpInput> {
    const { XdpSource } = await load(import('@int/afxdp/source'));
    const source = new XdpSource({
      interface: flags.interface,
      queues: flags.queues,
      mode: flags.mode,
      ports: portsOf(decode),
      decode,
      ...(flags.from !== undefined && { from: flags.from }),
      ...(prefilter !== null && { prefilter }),
      ...(flags.onDown === 'exit' ? { onDown: 'end' } : linkWords(flags.interface, tell)),
    });
    return new XdpInput(source, prefilter);
  }

  private constructor(source: XdpSource, prefilter: Prefilter | null) {
    this.sources = [source];
    this.decode = source.decode;
    this.#source = source;
    this.#prefilter = prefilter;
  }

  get text(): string {
    const { address, mode } = this.#source;
    return `afxdp ${address}, ${mode} mode${this.#prefilter === null ? '' : ', pre-filter'}`;
  }

  get words(): readonly string[] {
    const ports = portsOf(this.decode);
    const copies = this.#source.zeroCopy ? ', no copies' : '';
    return [`receiving from ${this.text}${copies}, ${ports.length === 1 ? 'port' : 'ports'} ${ports.join(', ')}`];
  }

  get filtered(): number | null {
    return this.#prefilter === null ? null : this.#source.filtered;
  }
}

/** Messages about rules that the kernel cannot evaluate, so that it passes all their reports. */
export function prefilterWords({ plan }: Prefilter): string[] {
  const left = plan.rules.filter(({ inKernel }) => !inKernel);
  const words = left.map(({ rule, message }) => `pre-filter: rule ${rule.name} is left to this process: ${message}`);
  const inside = plan.rules.length - left.length;
  words.push(`pre-filter: ${inside} of ${counted(plan.rules.length, 'rule')} in the kernel`);
  return words;
}
