import type { TelemetryBatch } from '../batch.js';

/**
 * Decodes the frames of the one common shape (a v2.0 telemetry report that carries INT-MD over UDP over IPv4) straight
 * into columns and leaves every other frame alone.
 */
export interface FastDecoder {
  /**
   * Decodes frame `from`, `from + 1`, ... up to `to` (exclusive), appending to the batch.
   *
   * Stops at the first frame that is not of the fast shape, or for which rows are missing; such a frame leaves no
   * trace in the batch. Never throws, never reads outside a frame's bytes.
   *
   * @param batch where rows are appended
   * @param bytes the input that all frames lie in
   * @param offsets first byte of each frame, relative to `bytes`
   * @param lengths bytes of each frame
   * @param from index of the first frame to decode
   * @param to index behind the last frame to decode
   * @returns index of the frame it stopped at, or `to`
   */
  run(
    batch: TelemetryBatch,
    bytes: Uint8Array,
    offsets: Uint32Array,
    lengths: Uint32Array,
    from: number,
    to: number,
  ): number;
}

/** What a fast decoder must know about the deployment. */
export interface FastOptions {
  /** What a frame is: the UDP payload of a report, or the whole Ethernet frame around it. Default `report`. */
  readonly mode?: 'report' | 'ethernet';
  /** UDP destination port of reports; needed with mode `ethernet`. */
  readonly reportPort?: number;
  /** UDP destination ports that mark INT in the monitored packet (NPT 1): none to two. */
  readonly intPorts?: readonly number[];
  /** DSCP that marks INT in the monitored packet (NPT 0): `(dscp & mask) === (value & mask)`. Default: no such mark. */
  readonly dscp?: { readonly value: number; readonly mask: number };
}

/** {@link FastOptions} as plain integers, in the form the decoders compare with. */
export interface FastSettings {
  /** 1 for mode `ethernet`, else 0. */
  readonly ethernet: number;
  /** Report port, or {@link NO_PORT}. */
  readonly reportPort: number;
  /** INT ports, or {@link NO_PORT}. */
  readonly intPort0: number;
  readonly intPort1: number;
  /** Mask and value over the whole TOS byte. Without DSCP marking 0 and 1: no byte fits. */
  readonly tosMask: number;
  readonly tosValue: number;
}

/** A value that no 16-bit port equals. */
const NO_PORT = 0x10000;

/** Geneve, VXLAN-GPE, VXLAN, INTMon: what follows these UDP ports is for the general path. */
const TUNNEL_PORTS: readonly number[] = [6081, 4790, 4789, 54321];

/** Most INT ports that a fast decoder compares with. */
const MAX_INT_PORTS = 2;

function port(value: number, name: string): number {
  if (!Number.isInteger(value) || value < 0 || value > 0xffff) {
    throw new RangeError(`${name} must be an integer from 0 to 65535, not ${value}`);
  }
  return value;
}

/**
 * Checks options and turns them into integers.
 * @throws RangeError for a port or DSCP out of range, or more than {@link MAX_INT_PORTS} INT ports
 * @throws TypeError for mode `ethernet` without a report port
 */
export function fastSettings(options: FastOptions = {}): FastSettings {
  const ethernet = options.mode === 'ethernet' ? 1 : 0;
  if (ethernet === 1 && options.reportPort === undefined) {
    throw new TypeError("mode 'ethernet' needs reportPort");
  }
  const intPorts = (options.intPorts ?? []).map((value) => port(value, 'INT port'));
  if (intPorts.length > MAX_INT_PORTS) {
    throw new RangeError(`at most ${MAX_INT_PORTS} INT ports, not ${intPorts.length}`);
  }
  // A tunnel port is never accepted, so it need not be compared with.
  const usable = intPorts.filter((value) => !TUNNEL_PORTS.includes(value));
  let tosMask = 0;
  let tosValue = 1;
  if (options.dscp !== undefined) {
    const { value, mask } = options.dscp;
    for (const [name, bits] of Object.entries({ value, mask })) {
      if (!Number.isInteger(bits) || bits < 0 || bits > 63) {
        throw new RangeError(`DSCP ${name} must be an integer from 0 to 63, not ${bits}`);
      }
    }
    tosMask = mask << 2;
    tosValue = (value & mask) << 2;
  }
  return {
    ethernet,
    reportPort: options.reportPort === undefined ? NO_PORT : port(options.reportPort, 'reportPort'),
    intPort0: usable[0] ?? NO_PORT,
    intPort1: usable[1] ?? NO_PORT,
    tosMask,
    tosValue,
  };
}
