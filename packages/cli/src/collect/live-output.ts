import type { CollectorTotals, DegradedPart } from '@int/collector';
import type { DeviceProfile } from '@int/network';
import { hasColour, type Io } from '../io.js';
import { type Controls, type Extents, FIRST_CONTROLS, type Key, press } from '../live/controls.js';
import type { Frame, Size } from '../live/live-view.js';
import { TerminalSession } from '../live/terminal-session.js';
import type { KnownNetwork } from '../network/known-network.js';
import { unitsLine, unitsText } from '../network/units-line.js';
import { type Colours, colours } from '../output/colour.js';
import { DataOutput } from '../output/data-output.js';
import { eventJson, placedEvent } from '../output/event-text.js';
import { HealthWatch } from '../output/health-watch.js';
import { PacedOutput } from '../output/paced-output.js';
import { printable } from '../output/printable.js';
import { trackedJson } from '../output/tracked-text.js';
import type { LiveDetection } from './live-detection.js';

const LOG_MS = 1000;
const REDRAW_MS = 250;
/** Characters of event lines kept for a slow reader: about 30 000 events. */
const UNREAD_LIMIT = 1 << 23;
/** Most problems remembered while the live view is on. */
const MAX_UNTOLD = 20;

/** Draws a view for what the user has chosen. */
export type DrawView = (controls: Controls, size: Size, hasKeys: boolean, colour: Colours) => Frame;

/** The output of a command that runs until it is stopped: a live view in a terminal, else a line each second. */
export class LiveOutput {
  readonly data: DataOutput;
  /** Output during the run. */
  readonly paced: PacedOutput;
  /** Whether a part of the run failed. */
  hasProblem = false;
  readonly #io: Io;
  readonly #isJson: boolean;
  readonly #session: TerminalSession | null;
  #controls: Controls = FIRST_CONTROLS;
  #extents: Extents = {};
  /** The last view; it stays while the user pauses. */
  #view: DrawView | null = null;
  #ticker: NodeJS.Timeout | undefined;
  /** Messages held back while the live view hides standard error. */
  readonly #untold: string[] = [];

  /**
   * @param network of which the units are the first line of JSON
   * @param isPatient whether the run waits for the reader of its events, so that none need be left out
   * @param isInputUsed whether standard input is an input of the command, so that no keys come from it
   */
  constructor(io: Io, isJson: boolean, { device }: KnownNetwork, isPatient = false, isInputUsed = false) {
    this.#io = io;
    this.#isJson = isJson;
    this.data = new DataOutput(io.stdout);
    this.paced = new PacedOutput(this.data, isPatient ? Number.POSITIVE_INFINITY : UNREAD_LIMIT);
    const units = isJson ? unitsLine(device) : null;
    if (units !== null) this.paced.add(units);
    const hasView = io.stdout.isTTY === true && !isJson;
    const keys = isInputUsed ? null : io.stdin;
    this.#session = hasView
      ? new TerminalSession(
          io.stdout,
          keys,
          io.raise,
          (key) => this.#press(key),
          () => this.#show(),
        )
      : null;
  }

  /** Adds another line of units to JSON, for all further lines. */
  changeUnits(device: DeviceProfile): void {
    if (this.#isJson) this.paced.add(unitsText(device));
  }

  get hasView(): boolean {
    return this.#session !== null;
  }

  /** Prints a message at once, or after the live view has ended. */
  tell(message: string): void {
    this.#line(`int: ${message}`);
  }

  /** Prints the result of reading a file again: the problems, a line each, and a message. */
  readonly tellReload = (problems: readonly string[], message: string): void => {
    if (problems.length > 0) this.hasProblem = true;
    for (const problem of problems) this.#line(problem);
    this.tell(message);
  };

  #line(line: string): void {
    if (this.#session === null) this.#io.stderr.write(`${printable(line)}\n`);
    else if (this.#untold.length < MAX_UNTOLD) this.#untold.push(line);
  }

  /** A watch that prints degraded states; the live view shows them itself. */
  watch(degraded: () => readonly DegradedPart[]): HealthWatch {
    return new HealthWatch(degraded, (message) => {
      if (!this.hasView) this.tell(message);
    });
  }

  /**
   * Prints events as lines of JSON, or keeps them for the view.
   * @param totals of the collector, now
   * @param network units and names of switches
   */
  show(detection: LiveDetection, totals: () => CollectorTotals, network?: KnownNetwork): void {
    const { paced } = this;
    detection.firstNumber = (frames): number => totals().received - frames + 1;
    detection.tell = this.tellReload;
    if (this.hasView) detection.onEvents = (events): void => detection.remember(events);
    if (!this.#isJson) return;
    detection.onTracked = (all): void => {
      for (const told of all) {
        if (paced.isFull) detection.notShown++;
        else paced.add(trackedJson(told, network));
      }
      void paced.flush();
    };
    detection.onEvents = (events): void => {
      const number = detection.firstNumber(events.batch.frames);
      for (let row = 0; row < events.count; row++) {
        if (detection.stage.isTracked(events.ruleName(row))) continue;
        // Do not format a line that cannot be added.
        if (paced.isFull) detection.notShown++;
        else paced.add(eventJson(placedEvent(events, row, number), network));
      }
      void paced.flush();
    };
  }

  /** Begins to call `tick`, which calls {@link draw}. */
  begin(tick: () => void): void {
    this.#ticker = setInterval(tick, this.hasView ? REDRAW_MS : LOG_MS);
    this.#session?.enter();
    if (this.hasView) tick();
  }

  /** @param view draws the present state @param line the line of this second where there is no view */
  draw(view: DrawView, line: () => string): void {
    if (this.#session !== null) {
      if (!this.#controls.isPaused || this.#view === null) this.#view = view;
      this.#show();
      return;
    }
    // A slow reader misses seconds; nothing accumulates here.
    if (this.paced.isBehind) return;
    this.paced.add(line());
    void this.paced.flush();
  }

  #show(): void {
    const session = this.#session;
    if (session === null || this.#view === null) return;
    const { columns, rows, hasKeys } = session;
    const { lines, extents } = this.#view(this.#controls, { columns, rows }, hasKeys, colours(hasColour(this.#io)));
    this.#extents = extents;
    session.draw(lines);
  }

  #press(key: Key): void {
    const controls = press(this.#controls, key, this.#extents);
    if (controls === null) {
      this.#io.quit?.();
      return;
    }
    this.#controls = controls;
    this.#show();
  }

  pause(): void {
    clearInterval(this.#ticker);
  }

  /** Leaves the view, and prints the messages held back. */
  leave(): void {
    this.#session?.leave();
    for (const line of this.#untold) this.#io.stderr.write(`${printable(line)}\n`);
  }
}
