import { execFileSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { find, requires } from '../../../.ci/test/requires.js';
import { until } from '../../../.ci/test/until.js';
import { pcap, reportFrame } from './captures.js';
import { BIN, temporaryFolder } from './run.js';
import { InTerminal } from './terminal.js';

const files = temporaryFolder();
const SIZE = { columns: 80, rows: 24 };
const ENTER = '\x1b[?1049h\x1b[?25l';
const LEAVE = '\x1b[?25h\x1b[?1049l';
const LISTEN = 'collect --listen udp://127.0.0.1:0';

/** Runs the command between two prints of the terminal's settings. It prints its process id first. */
function inTerminal(args: string, before = 'exec'): InTerminal {
  const run = `${before} ${process.execPath} ${BIN} ${args}`;
  // The shell outlives signals of the terminal; what it starts does not inherit that.
  const script = `trap : INT QUIT TERM HUP; stty -g; sh -c 'echo "pid $$"; ${run}'; echo "code $?"; stty -g`;
  return new InTerminal(['sh', '-c', script], SIZE);
}

const pidIn = (terminal: InTerminal): number => Number(/^pid (\d+)/m.exec(terminal.shown)![1]);

/** The terminal is as it was before: its settings, its screen and its cursor. */
function expectRestored({ shown }: InTerminal): void {
  const plain = shown.replaceAll('\r', '');
  const [before, ...after] = plain.match(/^[\da-f]+(?::[\da-f]+){10,}$/gm) ?? [];
  expect(before).toBeDefined();
  expect(after).toEqual([before]);
  expect(plain.split(ENTER).length).toBeGreaterThan(1);
  expect(plain.split(LEAVE).length).toBe(plain.split(ENTER).length);
  expect(plain.lastIndexOf(LEAVE)).toBeGreaterThan(plain.lastIndexOf(ENTER));
}

describe('the live view in a terminal', () => {
  test('takes keys, and q ends it with the totals', async () => {
    const terminal = inTerminal(LISTEN);
    let at = await terminal.see(/q quit/);
    terminal.type('?');
    at = await terminal.see(/go to the next or the last part/, at);
    terminal.type('?/12');
    at = await terminal.see(/\/12_/, at);
    terminal.type('\r');
    at = await terminal.see(/filter: 12 \(Esc shows all\)/, at);
    terminal.type('s\t');
    at = await terminal.see(/> Congested queues/, at);
    terminal.type('p');
    at = await terminal.see(/PAUSED/, at);
    terminal.type('q');
    await terminal.see(/code 0/, at);
    expect(await terminal.end()).toBe(0);
    expect(terminal.shown.split(LEAVE)[1]).toContain('0 received, 0 decoded, 0 dropped');
    expectRestored(terminal);
  });

  test.each([
    ['Ctrl-C', '\x03', /code 0/],
    ['Ctrl-\\', '\x1c', /code 131/],
  ])('%s ends it, and the terminal is as it was', async (_, key, code) => {
    const terminal = inTerminal(LISTEN);
    await terminal.see(/q quit/);
    terminal.type(key);
    await terminal.see(code);
    await terminal.end();
    expectRestored(terminal);
  });

  test('SIGTERM ends it, and the terminal is as it was', async () => {
    const terminal = inTerminal(LISTEN);
    await terminal.see(/q quit/);
    process.kill(pidIn(terminal), 'SIGTERM');
    await terminal.see(/code 0/);
    await terminal.end();
    expectRestored(terminal);
  });

  test('an error ends it, and the terminal is as it was', async () => {
    const program = await files.write('fails.mjs', "setTimeout(() => { throw new Error('on purpose'); }, 1500);\n");
    const terminal = inTerminal(LISTEN, `NODE_OPTIONS="--import=${program}" exec`);
    await terminal.see(/q quit/);
    await terminal.see(/on purpose/);
    await terminal.see(/code [1-9]/);
    await terminal.end();
    expectRestored(terminal);
  });

  test('Ctrl-Z gives the terminal back to the shell, and fg takes it again', async () => {
    const bash = requires('bash', 'npm run setup:system');
    const terminal = new InTerminal([bash, '--norc', '--noprofile', '-i'], SIZE);
    await terminal.see(/[#$] $/);
    terminal.type(`stty -g; ${process.execPath} ${BIN} ${LISTEN}; stty -g; exit 7\n`);
    let at = await terminal.see(/q quit/);
    terminal.type('\x1a');
    at = await terminal.see(/Stopped/, at);
    expect(terminal.shown.slice(0, at).split(LEAVE)).toHaveLength(2);
    terminal.type('stty -a; fg\n');
    at = await terminal.see(/ icanon /, at);
    at = await terminal.see(/q quit/, at);
    terminal.type('?');
    at = await terminal.see(/go to the next or the last part/, at);
    terminal.type('q');
    at = await terminal.see(/0 received, 0 decoded, 0 dropped/, at);
    terminal.type('exit 7\n');
    expect(await terminal.end()).toBe(7);
    expect(terminal.shown.split(ENTER).length).toBeGreaterThan(2);
    expect(terminal.shown.split(LEAVE).length).toBe(terminal.shown.split(ENTER).length);
  });

  test('follows the size of the terminal', async () => {
    const terminal = inTerminal(LISTEN);
    let at = await terminal.see(/q quit/);
    const tty = `/proc/${pidIn(terminal)}/fd/0`;
    if (find('stty') === undefined) return;
    execFileSync('sh', ['-c', `stty rows 8 columns 48 < ${tty}`]);
    at = await terminal.see(/\? keys {2}q quit {2}Tab next part {2}\/ filter/, at);
    await until('lines of 48 columns', () => /lat p99 {5}peak {2}trouble/.test(terminal.since(at)), {
      found: () => terminal.since(at),
    });
    terminal.type('q');
    expect(await terminal.end()).toBe(0);
  });

  test('takes no keys where standard input is an input', async () => {
    const capture = await files.write('view.pcap', pcap([reportFrame(), reportFrame()]));
    const terminal = inTerminal('collect --pcap - --speed 1e-9', `cat ${capture} |`);
    await terminal.see(/Ctrl-C stops/);
    terminal.type('\x03');
    await terminal.see(/code \d+/);
    await terminal.end();
    expectRestored(terminal);
  });
});
