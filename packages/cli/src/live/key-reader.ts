import type { Key } from './controls.js';

/** Keys that are sequences of the terminal, of xterm, VT220, the Linux console and rxvt. */
const SEQUENCES: Readonly<Record<string, Key>> = {
  '[A': { name: 'up' },
  OA: { name: 'up' },
  '[B': { name: 'down' },
  OB: { name: 'down' },
  '[5~': { name: 'page-up' },
  '[6~': { name: 'page-down' },
  '[H': { name: 'home' },
  OH: { name: 'home' },
  '[1~': { name: 'home' },
  '[7~': { name: 'home' },
  '[F': { name: 'end' },
  OF: { name: 'end' },
  '[4~': { name: 'end' },
  '[8~': { name: 'end' },
  '[Z': { name: 'back-tab' },
};
const CONTROL: Readonly<Record<string, Key>> = {
  '\t': { name: 'tab' },
  '\r': { name: 'enter' },
  '\n': { name: 'enter' },
  '\x7f': { name: 'backspace' },
  '\b': { name: 'backspace' },
  '\x15': { name: 'erase-line' },
};

/** What the terminal would do itself if it did not hand over every key. */
export type TerminalSignal = 'SIGINT' | 'SIGTSTP' | 'SIGQUIT';
const SIGNALS: Readonly<Record<string, TerminalSignal>> = { '\x03': 'SIGINT', '\x1a': 'SIGTSTP', '\x1c': 'SIGQUIT' };

export type KeyPress = Key | TerminalSignal;

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what terminals send
const ONE_KEY = /^(?:\x1b(\[[0-9;?]*[ -/]*[@-~]|O[@-~])|(.))/su;
/** A sequence that has begun and may go on in the next piece. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what terminals send
const BEGUN = /^\x1b(?:\[[0-9;?]*[ -/]*|O)$/;
const MAX_BEGUN = 32;

/** Makes keys of what a terminal sends. A sequence may come in pieces. A lone Escape is the key of this name. */
export class KeyReader {
  #begun = '';

  /** @returns the keys of a piece; sequences that stand for no key are left out */
  read(text: string): KeyPress[] {
    const keys: KeyPress[] = [];
    let rest = this.#begun + text;
    this.#begun = '';
    while (rest !== '') {
      if (BEGUN.test(rest) && rest.length < MAX_BEGUN) {
        this.#begun = rest;
        break;
      }
      const [all, sequence, character] = ONE_KEY.exec(rest)!;
      rest = rest.slice(all.length);
      const key = sequence === undefined ? keyOf(character!) : SEQUENCES[sequence];
      if (key !== undefined) keys.push(key);
    }
    return keys;
  }
}

function keyOf(character: string): KeyPress | undefined {
  if (character === '\x1b') return { name: 'escape' };
  const known = SIGNALS[character] ?? CONTROL[character];
  if (known !== undefined) return known;
  const code = character.codePointAt(0)!;
  return code < 0x20 || (code >= 0x80 && code < 0xa0) ? undefined : { name: 'character', text: character };
}
