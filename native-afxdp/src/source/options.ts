import type { DecodeOptions } from '@int/codec';
import type { Outage } from '@int/collector';
import { DEFAULT_REPORT_PORT, prefixesOf } from '@int/collector/internals';
import type { Prefix } from '@int/network';
import type { XdpError } from '../errors.js';
import { checkInteger } from '../options.js';
import type { SocketProgram, XdpMode } from '../program.js';

/** The part of a pre-filter that a source needs; `Prefilter` of `@int/afxdp/prefilter` is one. */
export interface SourcePrefilter {
  readonly program: SocketProgram;
  counts(): { readonly filtered: number; readonly unknownSource: number; readonly unknownSwitch: number };
  /** @throws RangeError */
  setSenders(from: readonly Prefix[] | null): void;
  /** @throws RangeError */
  setKnownSwitches(ids: readonly number[] | null): void;
  /** Lets everything go to the system from now on; {@link counts} stays. */
  detach(): void;
  /** Attaches it again, to the interface that has the name now. @throws XdpError */
  reattach(): void;
  close(): void;
}

export interface XdpSourceOptions {
  readonly interface: string;
  /** Receive queues to read, each by one socket; `all` of the interface. Default `all`. */
  readonly queues?: 'all' | readonly number[];
  /**
   * UDP destination ports of telemetry reports. Frames to other ports go to the network stack. `all`: the source takes
   * every frame of the interface. Default 32766. With a pre-filter these are its ports.
   */
  readonly ports?: readonly number[] | 'all';
  /** Default `auto`: in the driver where that is possible, else behind it. With a pre-filter its own. */
  readonly mode?: 'auto' | XdpMode;
  /** False: insist on copies. Default: whatever the driver does. */
  readonly zeroCopy?: boolean;
  /**
   * Frames of memory for each queue, a power of two from 1024 on: what arrives while the process does something else waits
   * there. Default 16 384, or what the process may lock in memory, if that is less.
   */
  readonly frames?: number;
  /** Bytes for each frame; 256 of them are headroom. Default 2048, or 4096 if the interface's MTU needs it. */
  readonly frameSize?: 2048 | 4096;
  /** Frames handed on at once, 16 to 4096. Default 256. */
  readonly batchFrames?: number;
  /** Batches of each queue that may be under way, 2 to 256; together half of `frames` at most. Default 8. */
  readonly batches?: number;
  /**
   * How to find and read INT; the same as for the Collector. `reportPorts` is `ports` unless given. Default: the
   * codec's.
   */
  readonly decode?: Omit<DecodeOptions, 'linkType'>;
  /**
   * Who may send: addresses and prefixes. The collector counts frames of others as `unknown-source`; a pre-filter drops them in the
   * kernel. Give the list to the pre-filter, too, which is at work before the source. Default: anybody.
   */
  readonly from?: readonly (string | Prefix)[];
  /**
   * A pre-filter attached to the interface. The source reads the frames that it lets through, and closes it at the end.
   */
  readonly prefilter?: SourcePrefilter;
  /**
   * What to do when the interface goes down or away: `wait` until it is back, even if created anew; or `end`, which
   * fails the source. Default `wait`.
   */
  readonly onDown?: 'wait' | 'end';
  /** Called when the interface is down or away, or cannot be opened again: in an outage once per code. */
  readonly onProblem?: (problem: XdpError) => void;
  /** Called when the outage is over. */
  readonly onRecovered?: (outage: Outage) => void;
  /** One thread for each queue that receives and decodes. Default: if there are several queues, which need it. */
  readonly threads?: boolean;
  /**
   * The code of the threads, `xdp-worker.js` of this package. Needed only where a bundler has put the program together
   * and left it behind. Default: the file beside the module that this class comes from.
   */
  readonly worker?: string | URL;
}

/** How the memory of one queue is laid out. */
export interface QueueGeometry {
  readonly frames: number;
  readonly frameSize: 2048 | 4096;
  readonly batchFrames: number;
  readonly batches: number;
}

/** Options with their defaults, as far as these do not depend on the interface. */
export type ResolvedOptions = Omit<XdpSourceOptions, 'decode' | 'from'> &
  Required<
    Pick<
      XdpSourceOptions,
      'queues' | 'ports' | 'mode' | 'batchFrames' | 'batches' | 'onDown' | 'onProblem' | 'onRecovered'
    >
  > & { readonly decode: DecodeOptions; readonly from: readonly Prefix[] | null };

/** Default of `frames`, and the least that they are. */
export const FRAMES = 16_384;
export const LEAST_FRAMES = 1024;
const MOST_FRAMES = 1 << 20;

function checkedQueues(queues: XdpSourceOptions['queues']): 'all' | readonly number[] {
  if (queues === undefined || queues === 'all') return 'all';
  if (queues.length === 0 || new Set(queues).size !== queues.length) {
    throw new RangeError(`queues must be one or more different numbers, not [${queues.join(', ')}]`);
  }
  for (const queue of queues) checkInteger('a queue', queue, 0, 0xffff);
  return [...queues];
}

/**
 * Checks the options.
 * @throws RangeError for a number out of range or a bad prefix; TypeError without an interface
 */
export function resolveOptions(options: XdpSourceOptions): ResolvedOptions {
  if (typeof options.interface !== 'string' || options.interface === '') {
    throw new TypeError('interface must be the name of a network interface');
  }
  const { ports = [DEFAULT_REPORT_PORT], mode = 'auto', frames, frameSize, prefilter } = options;
  const { batchFrames = 256, batches = 8, onDown = 'wait' } = options;
  const { onProblem = () => undefined, onRecovered = () => undefined } = options;
  if (ports !== 'all') for (const port of ports) checkInteger('a port', port, 0, 0xffff);
  if (frameSize !== undefined && frameSize !== 2048 && frameSize !== 4096) {
    throw new RangeError(`frameSize must be 2048 or 4096, not ${String(frameSize)}`);
  }
  if (prefilter !== undefined && prefilter.program.interface !== options.interface) {
    throw new RangeError(`the pre-filter is attached to ${prefilter.program.interface}, not to ${options.interface}`);
  }
  const from = options.from === undefined ? null : prefixesOf(options.from);
  const queues = checkedQueues(options.queues);
  if (options.threads === false && queues !== 'all' && queues.length > 1) {
    throw new RangeError('several queues need threads');
  }
  checkInteger('batchFrames', batchFrames, 16, 4096);
  checkInteger('batches', batches, 2, 256);
  if (frames !== undefined) {
    if ((checkInteger('frames', frames, LEAST_FRAMES, MOST_FRAMES) & (frames - 1)) !== 0) {
      throw new RangeError(`frames must be a power of two, not ${frames}`);
    }
    if (batchFrames * batches > frames / 2) {
      throw new RangeError(`${batches} batches of ${batchFrames} frames are more than half of ${frames} frames`);
    }
  }
  const reportPorts = options.decode?.reportPorts ?? (ports === 'all' ? null : ports);
  const decode: DecodeOptions = {
    ...options.decode,
    ...(reportPorts !== null && { reportPorts: [...reportPorts] }),
    linkType: 'ethernet',
  };
  return { ...options, queues, ports, mode, batchFrames, batches, decode, from, onDown, onProblem, onRecovered };
}
