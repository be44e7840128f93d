/** Where `int collect` gets its telemetry from, as the command sees it. */
import type { DecodeOptions } from '@int/codec';
import {
  type CaptureSource,
  formatUdpAddress,
  type Source,
  type UdpAddress,
  UdpSource,
  type UdpSourceOptions,
} from '@int/collector';
import { DEFAULT_REPORT_PORT } from '@int/collector/internals';
import { bytes } from '../output/numbers.js';

export interface TelemetryInput {
  readonly sources: readonly Source[];
  /** For the collector. */
  readonly decode: Omit<DecodeOptions, 'linkType'>;
  /** Whether time goes on also when nothing arrives. */
  readonly isLive: boolean;
  /** What a live view names it, once it is open. */
  readonly text: string;
  /** What to tell once it is open: a line each. */
  readonly words: readonly string[];
  /** Reports that a filter in front of the process has kept back; `null` without one. */
  readonly filtered: number | null;
}

export class UdpInput implements TelemetryInput {
  readonly sources: readonly UdpSource[];
  readonly decode: Omit<DecodeOptions, 'linkType'>;
  readonly isLive = true;
  readonly filtered = null;

  constructor(
    addresses: readonly UdpAddress[],
    decode: Omit<DecodeOptions, 'linkType'>,
    options: Omit<UdpSourceOptions, 'address'> = {},
  ) {
    this.sources = addresses.map((address) => new UdpSource({ ...options, address }));
    this.decode = decode;
  }

  get text(): string {
    return this.sources.map(({ address }) => formatUdpAddress(address)).join(', ');
  }

  get words(): readonly string[] {
    return this.sources.map((source) => {
      const { granted, requested } = source.receiveBuffer!;
      const small = granted < requested ? ` of ${bytes(requested)} asked (net.core.rmem_max)` : '';
      return `listening on ${formatUdpAddress(source.address)}, receive buffer ${bytes(granted)}${small}`;
    });
  }
}

export class CaptureInput implements TelemetryInput {
  readonly sources: readonly Source[];
  readonly decode: Omit<DecodeOptions, 'linkType'>;
  readonly isLive = false;
  readonly filtered = null;
  readonly words = [];

  constructor(source: CaptureSource, decode: Omit<DecodeOptions, 'linkType'>) {
    this.sources = [source];
    this.decode = decode;
  }

  get text(): string {
    return this.sources[0]!.name;
  }
}

/** The ports that reports are sent to. */
export const portsOf = ({ reportPorts }: Omit<DecodeOptions, 'linkType'>): readonly number[] =>
  reportPorts ?? [DEFAULT_REPORT_PORT];

/** All addresses of this machine, on the ports that reports are sent to. */
export function anyAddress(decode: Omit<DecodeOptions, 'linkType'>): UdpAddress[] {
  return portsOf(decode).map((port) => ({ host: '0.0.0.0', port }));
}
