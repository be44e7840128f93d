/** The sources of int.yaml. */
import { isDeepStrictEqual } from 'node:util';
import type { DecodeOptions } from '@int/codec';
import { CaptureSource, type Source } from '@int/collector';
import { parseUdpAddress, prefixesOf } from '@int/collector/internals';
import type { Prefix } from '@int/network';
import { given, ifGiven } from '../given.js';
import { interfaceQueues } from '../input/interface-queues.js';
import { fromText } from '../input/senders.js';
import { anyAddress, CaptureInput, type TelemetryInput, UdpInput } from '../input/telemetry-input.js';
import type { XdpChoice, XdpChoiceFlags } from '../input/xdp-choice.js';
import type { Io } from '../io.js';
import type { AfxdpConfig, SendersConfig, SourceConfig } from './config.js';
import { kafkaInput } from './kafka.js';
import { bytesOf } from './quantities.js';
import type { ReadConfig } from './read-config.js';
import type { Tell } from './sink-parts.js';

/** A source of the configuration. */
export interface InputPart {
  readonly config: SourceConfig;
  /** Who may send to it; `undefined`: anybody. */
  readonly from: readonly Prefix[] | undefined;
  /** How it decodes, if it does so itself; otherwise `null`. */
  readonly decode: Omit<DecodeOptions, 'linkType'> | null;
  readonly input: TelemetryInput;
}

/** All sources of a configuration. */
export class ConfigInput implements TelemetryInput {
  readonly decode: Omit<DecodeOptions, 'linkType'>;
  #parts: readonly InputPart[];

  constructor(parts: readonly InputPart[], decode: Omit<DecodeOptions, 'linkType'>) {
    this.#parts = parts;
    this.decode = decode;
  }

  get parts(): readonly InputPart[] {
    return this.#parts;
  }

  /** Puts an input in the place of one that has been closed. @param by `null`: there is none, and a reload makes it anew */
  replace(input: TelemetryInput, by: TelemetryInput | null): void {
    this.#parts = this.#parts.flatMap((part) =>
      part.input !== input ? [part] : by === null ? [] : [{ ...part, input: by }],
    );
  }

  get sources(): readonly Source[] {
    return this.parts.flatMap(({ input }) => input.sources);
  }

  get isLive(): boolean {
    return this.parts.some(({ input }) => input.isLive);
  }

  get text(): string {
    return this.parts.map(({ input }) => input.text).join(', ');
  }

  get words(): readonly string[] {
    return this.parts.flatMap(({ input }) => input.words);
  }

  /** The messages of the sources that others have not. */
  wordsBeside({ parts }: ConfigInput): readonly string[] {
    const olds = parts.map(({ input }) => input);
    return this.parts.flatMap(({ input }) => (olds.includes(input) ? [] : input.words));
  }

  get filtered(): number | null {
    let sum: number | null = null;
    for (const {
      input: { filtered },
    } of this.parts)
      if (filtered !== null) sum = (sum ?? 0) + filtered;
    return sum;
  }
}

/** The options of the AF_XDP source, if there is one, in the form of the command line's. */
export function xdpFlagsOf(read: ReadConfig, knownSwitches: readonly number[] | null): XdpChoiceFlags {
  const { config, problem } = read;
  const index = config.sources.findIndex(({ afxdp }) => afxdp !== undefined);
  const afxdp: AfxdpConfig | undefined = config.sources[index]?.afxdp;
  if (afxdp === undefined) return {};
  const { interface: name, queues = 'all', mode, prefilter, onDown } = afxdp;
  const from = sendersOf(read, afxdp);
  try {
    return {
      afxdp: interfaceQueues(`${name}:${queues}`),
      ...(prefilter === true && { prefilter }),
      ...given({ afxdpMode: mode, onDown, from }),
      knownSwitches,
    };
  } catch (error) {
    throw problem(['sources', index, 'afxdp'], (error as Error).message, error);
  }
}

/** Who may send to a source: its own list, else that of the device profile; without one anybody. */
function sendersOf({ device }: ReadConfig, { from }: SendersConfig): readonly Prefix[] | undefined {
  return ifGiven(from, prefixesOf) ?? device.sources ?? undefined;
}

function udpInput(read: ReadConfig, index: number, decode: Omit<DecodeOptions, 'linkType'>): TelemetryInput {
  const udp = read.config.sources[index]!.udp!;
  const { listen, receiveBuffer, slabs } = udp;
  const path = ['sources', index, 'udp'];
  try {
    const options = given({ receiveBufferBytes: ifGiven(receiveBuffer, bytesOf), slabs, from: sendersOf(read, udp) });
    return new UdpInput([parseUdpAddress(`udp://${listen}`)], decode, options);
  } catch (error) {
    throw read.problem(path, (error as Error).message, error);
  }
}

/** What sources are made with, besides their configuration. */
export interface InputContext {
  readonly xdp: XdpChoice;
  readonly prefilter: Parameters<XdpChoice['input']>[0];
  readonly io: Io;
  readonly tell: Tell;
}

/** The source at an index, not yet open. @throws CliError (rejects) */
async function inputPart(
  read: ReadConfig,
  index: number,
  decode: Omit<DecodeOptions, 'linkType'>,
  { xdp, prefilter, io, tell }: InputContext,
): Promise<TelemetryInput> {
  const { udp, afxdp = {}, pcap, kafka } = read.config.sources[index]!;
  if (udp !== undefined) return udpInput(read, index, decode);
  if (kafka !== undefined) return kafkaInput(read, index, decode, tell);
  if (pcap === undefined) {
    const input = await xdp.input(prefilter);
    return input ?? new UdpInput(anyAddress(decode), decode, given({ from: sendersOf(read, afxdp) }));
  }
  const { file, speed } = pcap;
  const path = file === '-' ? file : read.path(file);
  const capture = new CaptureSource({ path, input: io.stdin, ...given({ speed, from: sendersOf(read, pcap) }) });
  return new CaptureInput(capture, decode);
}

/** A source like another one of a configuration, not yet open. @throws CliError (rejects) */
export function inputLike(read: ReadConfig, config: SourceConfig, context: InputContext): Promise<TelemetryInput> {
  return inputPart(read, read.config.sources.indexOf(config), read.device.decode, context);
}

/**
 * All sources, not yet open.
 * @param before the sources of the configuration so far: those that stay the same are taken over
 * @throws CliError (rejects)
 */
export async function configInput(
  read: ReadConfig,
  context: InputContext,
  before: ConfigInput | null = null,
): Promise<ConfigInput> {
  let { decode } = read.device;
  const known = [...(before?.parts ?? [])];
  const parts: InputPart[] = [];
  for (const [index, config] of read.config.sources.entries()) {
    const { udp, afxdp, pcap } = config;
    const from = sendersOf(read, udp ?? afxdp ?? pcap ?? {});
    const own = { config, from, decode: afxdp === undefined ? null : read.device.decode };
    const at = known.findIndex(({ input: _, ...part }) => isDeepStrictEqual(part, own));
    const [same] = at < 0 ? [] : known.splice(at, 1);
    const input = same?.input ?? (await inputPart(read, index, decode, context));
    // Decode options for frames of an interface do not affect other sources.
    if (afxdp !== undefined && !(input instanceof UdpInput)) decode = input.decode;
    parts.push({ ...own, input });
  }
  return new ConfigInput(parts, decode);
}

export function sourceText({ udp, afxdp, pcap, kafka }: SourceConfig): string {
  if (udp !== undefined) return `UDP on ${udp.listen}${fromText(udp.from)}`;
  if (afxdp !== undefined)
    return `AF_XDP on ${afxdp.interface}, queues ${afxdp.queues ?? 'all'}${fromText(afxdp.from)}`;
  if (pcap !== undefined) return `the capture ${pcap.file}${fromText(pcap.from)}`;
  return `Kafka topic ${kafka?.topic ?? 'int.reports'} of ${kafka?.brokers.join(', ') ?? ''}`;
}
