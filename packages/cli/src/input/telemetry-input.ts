/** The input of `int collect`. */
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
  /** Decode options for the collector. */
  readonly decode: Omit<DecodeOptions, 'linkType'>;
  /** Whether time advances even if nothing arrives. */
  readonly isLive: boolean;
  /** Its name in a live view, once it is open. */
  readonly text: string;
  /** Messages to print once it is open, a line each. */
  readonly words: readonly string[];
  /** Reports dropped by a pre-filter; `null` without one. */
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

/** The UDP ports of reports. */
export const portsOf = ({ reportPorts }: Omit<DecodeOptions, 'linkType'>): readonly number[] =>
  reportPorts ?? [DEFAULT_REPORT_PORT];

/** All addresses of this machine, on the UDP ports of reports. */
export function anyAddress(decode: Omit<DecodeOptions, 'linkType'>): UdpAddress[] {
  return portsOf(decode).map((port) => ({ host: '0.0.0.0', port }));
}
