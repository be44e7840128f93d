import { type Demand, type LinkCapacity, NetworkLoad } from './network-load.js';
import { Penalties } from './penalties.js';
import { placeDemands } from './placement.js';
import type { Move } from './search.js';

/** When {@link TrafficEngineer} acts. Loads are shares of the capacity. */
export interface EngineerOptions {
  /** It acts when a link was above this for {@link windows} windows in a row. Default 0.8. */
  readonly above?: number;
  /** Default 3. */
  readonly windows?: number;
  /** The highest load must fall by so much at least, in the end. Default 0.05; and by three deviations of its noise. */
  readonly gain?: number;
  /** Moves in a cycle at most. Default 5. */
  readonly moves?: number;
  /** Time from a decision until telemetry shows its effect, in milliseconds: a cycle takes three times as long. Default 300. */
  readonly delayMs?: number;
  /** A demand that was moved stays for so long, in milliseconds. Default 30,000. */
  readonly pinMs?: number;
  /** Telemetry older than this stops the loop. Default 2000. */
  readonly staleMs?: number;
  /** Share of lost reports that stops the loop. Default 0.05. */
  readonly loss?: number;
}

/** What is known of the network in a window. */
export interface NetworkView {
  readonly links: readonly LinkCapacity[];
  readonly demands: readonly Demand[];
  /** Age of the newest telemetry, in milliseconds. */
  readonly ageMs: number;
  /** Share of reports that were lost. */
  readonly loss: number;
}

/** What to do, and why. */
export interface Decision {
  readonly moves: readonly Move[];
  /** `stale`, `lossy`: telemetry cannot be relied on. `waiting`: the last moves are not seen yet. */
  readonly reason: 'calm' | 'watching' | 'waiting' | 'stale' | 'lossy' | 'no-better-path' | 'too-little-gain' | 'moved';
  /** Highest load now, and as predicted after the moves. */
  readonly load: number;
  readonly predicted: number;
  readonly hottest: string;
}

/** Weight of the past in the noise of the highest load. */
const LAMBDA = 0.9;

/**
 * Chooses paths so that the highest load falls, with hysteresis, pinning, damping, and a stop when telemetry is stale: a
 * function of views and times. Rules and their numbers are in the README.
 */
export class TrafficEngineer {
  readonly #options: Required<EngineerOptions>;
  readonly #penalties: Penalties;
  #above = 0;
  #actedMs = Number.NEGATIVE_INFINITY;
  #lastLoad = Number.NaN;
  #variance = 0;

  constructor(options: EngineerOptions = {}) {
    this.#options = {
      above: 0.8,
      windows: 3,
      gain: 0.05,
      moves: 5,
      delayMs: 300,
      pinMs: 30_000,
      staleMs: 2000,
      loss: 0.05,
      ...options,
    };
    this.#penalties = new Penalties(this.#options.pinMs);
  }

  /** Looks at a window. @throws RangeError for a link without capacity, and a path over a link that is not there */
  step(view: NetworkView, timeMs: number): Decision {
    const { above, windows, gain, moves: mostMoves, delayMs, staleMs, loss } = this.#options;
    const { links, demands } = view;
    const { link: hottest, load } = new NetworkLoad(links, demands).hottest();
    const nothing = (reason: Decision['reason'], predicted = load): Decision => ({
      moves: [],
      reason,
      load,
      predicted,
      hottest,
    });
    if (view.ageMs > staleMs) return nothing('stale');
    if (view.loss > loss) return nothing('lossy');
    this.#follow(load, timeMs);
    if (load <= above) {
      this.#above = 0;
      return nothing('calm');
    }
    this.#above++;
    if (timeMs - this.#actedMs < 3 * delayMs) return nothing('waiting');
    if (this.#above < windows) return nothing('watching');
    const placement = placeDemands(links, demands, mostMoves, ({ key }) => this.#penalties.mayMove(key, timeMs));
    if (placement.moves.length === 0) return nothing('no-better-path');
    const needed = Math.max(gain, 3 * Math.sqrt(this.#variance));
    // Where many links are hot, the moves of one cycle lower some of them: what counts is where the moves lead to.
    if (placement.before - placement.goal < needed) return nothing('too-little-gain', placement.goal);
    for (const { demand, from, to } of placement.moves) this.#penalties.moved(demand, from, to, timeMs);
    this.#actedMs = timeMs;
    this.#above = 0;
    this.#lastLoad = Number.NaN;
    return { moves: placement.moves, reason: 'moved', load, predicted: placement.after, hottest };
  }

  /** The noise of the highest load, from window to window; a move of our own is no noise. */
  #follow(load: number, timeMs: number): void {
    const off = load - this.#lastLoad;
    // While our moves take effect the load changes by them.
    if (!Number.isNaN(off) && timeMs - this.#actedMs > 3 * this.#options.delayMs) {
      // Differences of neighbouring windows have twice the variance; a step of more than a tenth is a change, no noise.
      this.#variance = LAMBDA * this.#variance + (1 - LAMBDA) * Math.min(0.01, (off * off) / 2);
    }
    this.#lastLoad = load;
  }
}
