import type { V1Switch } from '@int/p4vm';
import { hexOf } from '@int/p4vm/internals';

/** Highest port shown. */
const LAST_PORT = 9;

/** Thrown for a line that is not a packet, a command or a comment. */
export class ScriptError extends Error {
  override readonly name = 'ScriptError';
}

/** Commands whose reply is shown; others print nothing on success. */
const ASKS =
  /^(show_|get_time_|mc_dump$|act_prof_dump|table_(dump|num_entries|info|show_actions)|(meter_get_rates|mirroring_get|pvs_get|greet)$)/;

/** Runs a command on a switch. Returns output lines: none if it succeeded and is not a query. */
export function commandLines(target: V1Switch, command: string): string[] {
  const { error, values, counter, status, text } = target.command(command);
  if (error !== undefined) return [`# error: ${command} -> ${error.message.trim().split(/\s+/).join(' ')}`];
  const [name, object = '', index] = command.split(/\s+/);
  if (name === 'counter_read' && counter !== undefined) {
    return [`# counter ${object} ${index ?? '0'} ${counter.packets} ${counter.bytes}`];
  }
  if (name === 'register_read' && values !== undefined) {
    return [`# register ${object} ${index === undefined ? '' : `${index} `}${values.join(', ')}`];
  }
  const isAnswer = status === 'ignored' || ASKS.test(name ?? '');
  return isAnswer && text !== '' ? text.split('\n').map((line) => `# ${line}`) : [];
}

function packetOf(line: string): { port: number; frame: Uint8Array } {
  const [port = '', ...rest] = line.replace(/#.*$/, '').trim().split(/\s+/);
  const digits = rest.join('');
  if (!/^\d+$/.test(port)) throw new ScriptError(`PORT HEX, ! COMMAND or # expected, not "${line}"`);
  if (!/^([0-9a-fA-F]{2})*$/.test(digits))
    throw new ScriptError('the packet is no whole number of bytes in hexadecimal');
  return { port: Number(port), frame: Uint8Array.from(Buffer.from(digits, 'hex')) };
}

/** Plays a script line by line on a switch. */
export class Player {
  #packets = 0;

  constructor(readonly target: V1Switch) {}

  /**
   * Runs one line of the script. Returns its output.
   *
   * @throws ScriptError if the line is invalid
   */
  play(line: string): string[] {
    const text = line.trim();
    if (text === '' || text.startsWith('#')) return [];
    if (text.startsWith('!')) return commandLines(this.target, text.slice(1).trim());
    const { port, frame } = packetOf(text);
    this.#packets++;
    const outputs = this.target.process(port, frame).filter((output) => output.port <= LAST_PORT);
    if (outputs.length === 0) return [`# packet ${this.#packets} (nothing)`];
    // The sort is stable, so the order of emission per port is kept.
    outputs.sort((a, b) => a.port - b.port);
    return [`# packet ${this.#packets}`, ...outputs.map((output) => `${output.port} ${hexOf(output.frame)}`.trimEnd())];
  }
}
