import { readFileSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import type { Terminal } from '../io.js';
import { Screen } from '../output/screen.js';
import type { Key } from './controls.js';
import { KeyReader, type TerminalSignal } from './key-reader.js';

/** Standard input, if it may be a terminal. */
type KeyInput = Readable & { readonly isTTY?: boolean; setRawMode?(isRaw: boolean): unknown };

/** Raises a signal of the terminal for all processes that Ctrl-C and Ctrl-Z in it reach. */
export type Raise = (signal: TerminalSignal) => void;

/**
 * Whether the terminal listens to this process and not to a shell that has it in the background. There, changing the
 * terminal would stop the process. Where the system does not tell, it does.
 */
function isInForeground(): boolean {
  try {
    const stat = readFileSync('/proc/self/stat', 'latin1');
    const [, , group, , , foreground] = stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number);
    return group === undefined || foreground === undefined || foreground <= 0 || group === foreground;
  } catch {
    return true;
  }
}

/**
 * The terminal while a view has it: the alternate screen, and keys without Enter. Everything is put back when the view
 * ends, when the process ends, and while it is suspended. In the background of a shell nothing is drawn.
 */
export class TerminalSession {
  readonly #screen: Screen;
  readonly #output: Terminal;
  readonly #input: KeyInput | null;
  readonly #decoder = new StringDecoder('utf8');
  readonly #reader = new KeyReader();
  readonly #raise: Raise;
  readonly #onKey: (key: Key) => void;
  readonly #redraw: () => void;
  #isOpen = false;
  /** Whether the view has the terminal now. */
  #isShown = false;
  #isRaw = false;
  readonly #restore = (): void => this.#hide();
  readonly #onSuspend = (): void => this.#suspend();
  readonly #onContinue = (): void => this.#resume();
  readonly #onResize = (): void => this.#redraw();
  readonly #onData = (data: Buffer | string): void =>
    this.#read(typeof data === 'string' ? data : this.#decoder.write(data));
  readonly #onInputEnd = (): void => this.#stopKeys();

  /** @param input standard input if keys may be read from it; `null`: it is an input of the command */
  constructor(
    output: Terminal,
    input: Readable | null,
    raise: Raise | undefined,
    onKey: (key: Key) => void,
    redraw: () => void,
  ) {
    this.#output = output;
    this.#screen = new Screen(output);
    const keys = input as KeyInput | null;
    this.#input = keys?.isTTY === true && keys.setRawMode !== undefined && raise !== undefined ? keys : null;
    this.#raise = raise ?? ((): void => {});
    this.#onKey = onKey;
    this.#redraw = redraw;
  }

  get columns(): number {
    return this.#screen.columns;
  }

  get rows(): number {
    return this.#screen.rows;
  }

  /** Whether the terminal gives keys. */
  get hasKeys(): boolean {
    return this.#input !== null;
  }

  enter(): void {
    if (this.#isOpen) return;
    this.#isOpen = true;
    // The monitor runs before Node prints an uncaught error.
    process.on('exit', this.#restore);
    process.on('uncaughtExceptionMonitor', this.#restore);
    process.on('SIGTSTP', this.#onSuspend);
    process.on('SIGCONT', this.#onContinue);
    this.#output.on('resize', this.#onResize);
    if (isInForeground()) this.#show();
  }

  draw(lines: readonly string[]): void {
    // A shell may have put the process into the foreground without a signal.
    if (this.#isOpen && !this.#isShown && isInForeground()) this.#show();
    if (this.#isShown) this.#screen.draw(lines);
  }

  leave(): void {
    if (!this.#isOpen) return;
    this.#hide();
    this.#isOpen = false;
    process.off('exit', this.#restore);
    process.off('uncaughtExceptionMonitor', this.#restore);
    process.off('SIGTSTP', this.#onSuspend);
    process.off('SIGCONT', this.#onContinue);
    this.#output.off('resize', this.#onResize);
  }

  #show(): void {
    if (this.#isShown) return;
    this.#isShown = true;
    this.#startKeys();
    this.#screen.enter();
  }

  #hide(): void {
    if (!this.#isShown) return;
    this.#isShown = false;
    this.#screen.leave();
    this.#stopKeys();
  }

  #startKeys(): void {
    if (this.#input === null || this.#isRaw) return;
    try {
      this.#input.setRawMode!(true);
    } catch {
      // The terminal is gone.
      return;
    }
    this.#isRaw = true;
    this.#input.on('data', this.#onData);
    this.#input.on('end', this.#onInputEnd);
    this.#input.on('error', this.#onInputEnd);
    this.#input.resume();
  }

  #stopKeys(): void {
    const input = this.#input;
    if (input === null || !this.#isRaw) return;
    this.#isRaw = false;
    input.off('data', this.#onData);
    input.off('end', this.#onInputEnd);
    // Nothing may keep the process running, and a late error must not end it: its listener stays.
    input.pause();
    try {
      input.setRawMode!(false);
    } catch {
      // The terminal is gone.
    }
  }

  #read(text: string): void {
    for (const key of this.#reader.read(text)) {
      if (typeof key !== 'string') this.#onKey(key);
      else {
        // The signal ends the process without any listener.
        if (key === 'SIGQUIT') this.#hide();
        this.#raise(key);
      }
    }
  }

  #suspend(): void {
    this.#hide();
    process.off('SIGTSTP', this.#onSuspend);
    // Stops here, until a shell continues the process.
    process.kill(process.pid, 'SIGTSTP');
    process.on('SIGTSTP', this.#onSuspend);
    this.#resume();
  }

  /** Takes the terminal again: it may have been changed, also by a shell after SIGSTOP. */
  #resume(): void {
    if (!this.#isOpen) return;
    this.#hide();
    if (!isInForeground()) return;
    this.#show();
    this.#redraw();
  }
}
