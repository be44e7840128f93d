/** The sources of int.yaml. */
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

class JointInput implements TelemetryInput {
  readonly decode: Omit<DecodeOptions, 'linkType'>;
  readonly #parts: readonly TelemetryInput[];

  constructor(parts: readonly TelemetryInput[], decode: Omit<DecodeOptions, 'linkType'>) {
    this.#parts = parts;
    this.decode = decode;
  }

  get sources(): readonly Source[] {
    return this.#parts.flatMap(({ sources }) => sources);
  }

  get isLive(): boolean {
    return this.#parts.some(({ isLive }) => isLive);
  }

  get text(): string {
    return this.#parts.map(({ text }) => text).join(', ');
  }

  get words(): readonly string[] {
    return this.#parts.flatMap(({ words }) => words);
  }

  get filtered(): number | null {
    let sum: number | null = null;
    for (const { filtered } of this.#parts) if (filtered !== null) sum = (sum ?? 0) + filtered;
    return sum;
  }
}

/** The options of the AF_XDP source, if there is one, in the form of the command line's. */
export function xdpFlagsOf(read: ReadConfig): XdpChoiceFlags {
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

/** All sources, not yet open. @throws CliError (rejects) */
export async function configInput(
  read: ReadConfig,
  xdp: XdpChoice,
  prefilter: Parameters<XdpChoice['input']>[0],
  io: Io,
  tell: Tell,
): Promise<TelemetryInput> {
  let { decode } = read.device;
  const parts: TelemetryInput[] = [];
  for (const [index, source] of read.config.sources.entries()) {
    const { pcap, kafka } = source;
    if (source.udp !== undefined) parts.push(udpInput(read, index, decode));
    else if (pcap !== undefined) {
      const { file, speed } = pcap;
      const from = sendersOf(read, pcap);
      const path = file === '-' ? file : read.path(file);
      const capture = new CaptureSource({ path, input: io.stdin, ...given({ speed, from }) });
      parts.push(new CaptureInput(capture, decode));
    } else if (kafka !== undefined) parts.push(await kafkaInput(read, index, decode, tell));
    else {
      const input = await xdp.input(prefilter);
      // Decode options for frames of an interface do not affect other sources.
      if (input !== null) decode = input.decode;
      parts.push(
        input ?? new UdpInput(anyAddress(decode), decode, given({ from: sendersOf(read, source.afxdp ?? {}) })),
      );
    }
  }
  return new JointInput(parts, decode);
}

export function sourceText({ udp, afxdp, pcap, kafka }: SourceConfig): string {
  if (udp !== undefined) return `UDP on ${udp.listen}${fromText(udp.from)}`;
  if (afxdp !== undefined)
    return `AF_XDP on ${afxdp.interface}, queues ${afxdp.queues ?? 'all'}${fromText(afxdp.from)}`;
  if (pcap !== undefined) return `the capture ${pcap.file}${fromText(pcap.from)}`;
  return `Kafka topic ${kafka?.topic ?? 'int.reports'} of ${kafka?.brokers.join(', ') ?? ''}`;
}
