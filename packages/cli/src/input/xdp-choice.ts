import type { Prefilter } from '@int/afxdp/prefilter';
import type { DetectorOptions, RuleSet } from '@int/detect';
import { type Io, say } from '../io.js';
import { type DecodeFlags, decodeOptions } from '../options.js';
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

/** What the command line says about AF_XDP. */
export interface XdpChoiceFlags extends DecodeFlags {
  readonly afxdp?: InterfaceQueues;
  readonly afxdpMode?: 'auto' | XdpMode;
  readonly onDown?: OnDown;
  readonly prefilter?: true;
}

/** Whether to receive by AF_XDP: as long as it was asked for, and nothing has shown that it cannot be. */
export class XdpChoice {
  readonly #flags: XdpChoiceFlags;
  readonly #io: Io;
  readonly #tell: (message: string) => void;
  #xdp: XdpFlags | null;

  /** @param tell says what happens to the interface while it is received from */
  constructor(flags: XdpChoiceFlags, io: Io, tell: (message: string) => void) {
    const { afxdp, afxdpMode = 'auto', onDown = 'wait' } = flags;
    this.#tell = tell;
    this.#flags = flags;
    this.#io = io;
    this.#xdp = afxdp === undefined ? null : { ...afxdp, mode: afxdpMode, onDown };
  }

  /**
   * Puts rules into the kernel if that was asked for and can be.
   * @throws CliError (rejects) if what was asked for cannot be anywhere
   */
  async attach(rules: RuleSet, options: DetectorOptions): Promise<RunningPrefilter | null> {
    if (this.#xdp === null || this.#flags.prefilter !== true) return null;
    try {
      return await attachPrefilter(this.#xdp, rules, options, decodeOptions(this.#flags));
    } catch (error) {
      if (!this.giveUp(error)) throw error;
      return null;
    }
  }

  /** The source to open; `null`: another one. @throws CliError (rejects) */
  async input(prefilter: Prefilter | null): Promise<XdpInput | null> {
    if (this.#xdp === null) return null;
    try {
      return await XdpInput.load(this.#xdp, decodeOptions(this.#flags), prefilter, this.#tell);
    } catch (error) {
      if (!this.giveUp(error)) throw error;
      return null;
    }
  }

  /**
   * Looks at why it could not be opened.
   * @returns true if it cannot be used here: that has been said, and UDP is next
   * @throws CliError if what was asked for cannot be anywhere
   */
  giveUp(error: unknown): boolean {
    if (this.#xdp === null) return false;
    const failure = xdpFailure(this.#xdp.interface, error);
    if (!(failure instanceof NoXdp)) {
      if (failure !== error) throw failure;
      return false;
    }
    const ports = anyAddress(decodeOptions(this.#flags)).map(({ port }) => port);
    say(
      this.#io,
      `no AF_XDP on ${this.#xdp.interface}: ${failure.message} Receiving by UDP on port ${ports.join(', ')}.`,
    );
    this.#xdp = null;
    return true;
  }
}
