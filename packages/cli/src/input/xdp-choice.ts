import type { Prefilter } from '@int/afxdp/prefilter';
import type { DecodeOptions } from '@int/codec';
import type { DetectorOptions, RuleSet } from '@int/detect';
import type { Prefix } from '@int/network';
import { given } from '../given.js';
import { type Io, say } from '../io.js';
import type { InterfaceQueues } from './interface-queues.js';
import type { OnDown } from './link-words.js';
import { anyAddress } from './telemetry-input.js';
import {
  attachPrefilter,
  NoXdp,
  type RunningPrefilter,
  type XdpFlags,
  XdpInput,
  type XdpMode,
  xdpFailure,
} from './xdp-input.js';

/** The command line's options for AF_XDP. */
export interface XdpChoiceFlags {
  readonly afxdp?: InterfaceQueues;
  readonly afxdpMode?: 'auto' | XdpMode;
  readonly onDown?: OnDown;
  readonly prefilter?: true;
  /** Who may send; default: anybody. */
  readonly from?: readonly Prefix[];
  /** The switches that there are; default: any id may be one. */
  readonly knownSwitches?: readonly number[] | null;
}

/** The choice of AF_XDP: it applies if requested, until it proves impossible. */
export class XdpChoice {
  readonly #flags: XdpChoiceFlags;
  readonly #decode: Omit<DecodeOptions, 'linkType'>;
  readonly #io: Io;
  readonly #tell: (message: string) => void;
  #xdp: XdpFlags | null;

  /** @param tell prints messages about changes of the interface */
  constructor(flags: XdpChoiceFlags, decode: Omit<DecodeOptions, 'linkType'>, io: Io, tell: (message: string) => void) {
    const { afxdp, afxdpMode = 'auto', onDown = 'wait', from, knownSwitches } = flags;
    this.#tell = tell;
    this.#flags = flags;
    this.#decode = decode;
    this.#io = io;
    this.#xdp = afxdp === undefined ? null : { ...afxdp, mode: afxdpMode, onDown, ...given({ from, knownSwitches }) };
  }

  /** Another request. What has proved impossible on an interface is not tried on it again. */
  followedBy(flags: XdpChoiceFlags, decode: Omit<DecodeOptions, 'linkType'>): XdpChoice {
    const next = new XdpChoice(flags, decode, this.#io, this.#tell);
    const name = flags.afxdp?.interface;
    if (this.#xdp === null && name !== undefined && this.#flags.afxdp?.interface === name) next.#xdp = null;
    return next;
  }

  /**
   * Loads rules into the kernel, if requested and possible.
   * @throws CliError (rejects) if the request is impossible on any machine
   */
  async attach(rules: RuleSet, options: DetectorOptions): Promise<RunningPrefilter | null> {
    if (this.#xdp === null || this.#flags.prefilter !== true) return null;
    try {
      return await attachPrefilter(this.#xdp, rules, options, this.#decode);
    } catch (error) {
      if (!this.giveUp(error)) throw error;
      return null;
    }
  }

  /** The source to open; `null` for a source other than AF_XDP. @throws CliError (rejects) */
  async input(prefilter: Prefilter | null): Promise<XdpInput | null> {
    if (this.#xdp === null) return null;
    try {
      return await XdpInput.load(this.#xdp, this.#decode, prefilter, this.#tell);
    } catch (error) {
      if (!this.giveUp(error)) throw error;
      return null;
    }
  }

  /**
   * Handles an error on opening.
   * @returns true if AF_XDP cannot be used here; a message has been printed, and UDP is next
   * @throws CliError if the request is impossible on any machine
   */
  giveUp(error: unknown): boolean {
    if (this.#xdp === null) return false;
    const failure = xdpFailure(this.#xdp.interface, error);
    if (!(failure instanceof NoXdp)) {
      if (failure !== error) throw failure;
      return false;
    }
    const ports = anyAddress(this.#decode).map(({ port }) => port);
    say(
      this.#io,
      `no AF_XDP on ${this.#xdp.interface}: ${failure.message} Receiving by UDP on port ${ports.join(', ')}.`,
    );
    this.#xdp = null;
    return true;
  }
}
