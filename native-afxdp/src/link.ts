import { setTimeout as sleep } from 'node:timers/promises';
import type { Outage } from '@int/collector';
import { OutageLog } from '@int/collector/internals';
import { toXdpError, XdpError } from './errors.js';
import { native } from './native.js';
import { checkInterfaceName } from './options.js';

interface LinkFunctions {
  interfaceIndex(name: string): number;
  interfaceIsUp(name: string): boolean;
}

export interface XdpLinkOptions {
  readonly interface: string;
  /** Told that the interface is down or away, or cannot be opened anew: in an outage once per code. */
  readonly onProblem?: (problem: XdpError) => void;
  /** Told that the outage is over. */
  readonly onRecovered?: (outage: Outage) => void;
}

/** Time between two attempts to open, and between two looks, in ms. */
const RETRY_MS = 100;

/**
 * Follows a network interface by its name: whether it is up, how often it was not, and whether what was opened at it is
 * still good. An interface that has been set down is still the same; one that has been removed and made again is another.
 */
export class XdpLink {
  readonly interface: string;
  readonly #functions: LinkFunctions = native<LinkFunctions>();
  readonly #outages: OutageLog<XdpError>;
  /** Of the interface that is followed; 0: none. */
  #index = 0;

  /** @throws TypeError without a name; XdpError ERR_XDP_NO_DEVICE for what can be no name, ERR_XDP_NOT_BUILT, ERR_XDP_PLATFORM */
  constructor({ interface: name, onProblem, onRecovered }: XdpLinkOptions) {
    checkInterfaceName(name);
    this.interface = name;
    this.#outages = new OutageLog({
      onProblem: (problem) => onProblem?.(problem),
      onRecovered: (outage) => onRecovered?.(outage),
    });
  }

  /** Times that it was down or away, one that lasts included. */
  get outages(): number {
    return this.#outages.count;
  }

  /** Why it does not carry frames; null: it was up at the last look. */
  get problem(): XdpError | null {
    return this.#outages.problem;
  }

  /** Takes the interface that has the name now for the one to follow. @throws XdpError ERR_XDP_NO_DEVICE */
  follow(): void {
    try {
      this.#index = this.#functions.interfaceIndex(this.interface);
    } catch (failure) {
      throw toXdpError(failure, { interface: this.interface });
    }
  }

  /**
   * Looks at the interface; an outage that is shorter than the time between two looks may go unnoticed.
   * @returns false: it is not the one that is followed, so what was opened at it has to be opened anew
   */
  look(): boolean {
    const name = this.interface;
    let index = 0;
    let isUp = false;
    try {
      index = this.#functions.interfaceIndex(name);
      isUp = this.#functions.interfaceIsUp(name);
    } catch {
      index = 0;
    }
    if (index === 0 || index !== this.#index) {
      this.#outages.fail(
        new XdpError('ERR_XDP_NO_DEVICE', `${name} has been ${index === 0 ? 'removed' : 'made anew'}`, {
          hint: 'Open sockets anew when it is back.',
        }),
      );
      return false;
    }
    if (isUp) this.#outages.succeed();
    else {
      const hint = `Bring it up with \`ip link set ${name} up\`.`;
      this.#outages.fail(new XdpError('ERR_XDP_DOWN', `${name} is down`, { hint }));
    }
    return true;
  }

  /** Takes an error of a socket. @returns whether the interface is the reason; then it counts as an outage */
  failed(error: unknown): boolean {
    if (!XdpError.is(error) || (error.code !== 'ERR_XDP_DOWN' && error.code !== 'ERR_XDP_NO_DEVICE')) return false;
    this.#outages.fail(error);
    return true;
  }

  /**
   * Opens something at the interface that has the name, again and again until that works.
   * @param open XdpErrors that it throws are reported once per code
   * @returns null: the signal came first
   */
  async reopen<Opened>(open: () => Promise<Opened>, signal: AbortSignal): Promise<Opened | null> {
    while (!signal.aborted) {
      try {
        this.follow();
        return await open();
      } catch (error) {
        if (!XdpError.is(error)) throw error;
        this.#outages.fail(error);
      }
      await pause(signal);
    }
    return null;
  }

  /** Waits until the interface is up, or is not the one that is followed any more. @returns false: not that, or the signal came */
  async whenUp(signal: AbortSignal): Promise<boolean> {
    for (;;) {
      if (signal.aborted || !this.look()) return false;
      if (this.problem === null) return true;
      await pause(signal);
    }
  }
}

function pause(signal: AbortSignal): Promise<void> {
  return sleep(RETRY_MS, undefined, { signal }).catch(() => undefined);
}
