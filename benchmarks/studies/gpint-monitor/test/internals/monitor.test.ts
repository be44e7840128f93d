import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { decodeFrame } from '@int/codec';
import { readCapture } from '@int/pcap';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { inTime } from '../../../../../.ci/test/until.js';
import { elementsOf } from '../../../../../.ci/test/xml.js';
import { readOptions, UsageError } from '../../src/monitor/options.js';
import { monitor } from '../../src/monitor/program.js';
import { SEED } from '../seed.js';

const PROGRAM = fileURLToPath(new URL('../../dist/monitor.js', import.meta.url));

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'gpint-monitor-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

interface Session {
  readonly type: 'session';
  readonly complete: boolean;
  readonly collected: number;
  readonly uncollected: readonly { readonly name: string; readonly reason: string }[];
  readonly probes: number;
  readonly recoveryProbes: number;
  readonly unavailable: readonly string[];
  readonly congested: readonly string[];
}

interface Total {
  readonly type: 'total';
  readonly found: readonly string[];
  readonly unseen: readonly string[];
  readonly wrong: readonly string[];
  readonly lossy: readonly string[];
  readonly neverCollected: readonly string[];
  readonly problems: readonly string[];
}

interface Plan {
  readonly type: 'plan';
  readonly switches: number;
  readonly paths: readonly (readonly string[])[];
  readonly failedLinks: readonly string[];
}

interface Run {
  readonly code: number;
  readonly lines: readonly string[];
  readonly plan: Plan;
  readonly sessions: readonly Session[];
  readonly total: Total;
}

/** Runs the program in this process, with `--json`. */
async function run(...args: readonly string[]): Promise<Run> {
  const options = readOptions([...args, '--json', '--seed', String(SEED)]);
  if (typeof options === 'string') throw new Error('help');
  const lines: string[] = [];
  const code = await monitor(options, (line) => lines.push(line), null, new AbortController().signal);
  const parsed = lines.map((line) => JSON.parse(line) as Plan | Session | Total);
  return {
    code,
    lines,
    plan: parsed[0] as Plan,
    sessions: parsed.filter((each): each is Session => each.type === 'session'),
    total: parsed.at(-1) as Total,
  };
}

describe('the monitor', () => {
  test.each([
    ['watts-strogatz:30:4:0.1', '3'],
    ['fat-tree:4', '2'],
    ['grid:6x4', '4'],
  ])('collects all switches of %s and names exactly the %s failed links', async (topology, count) => {
    const { code, plan, sessions, total } = await run('--topology', topology, '--loss', '0', '--fail-random', count);
    expect(code).toBe(0);
    expect(plan.failedLinks).toHaveLength(Number(count));
    expect(sessions).toHaveLength(3);
    for (const session of sessions) {
      expect(session).toMatchObject({ complete: true, collected: plan.switches, uncollected: [], congested: [] });
      expect([...session.unavailable].sort()).toEqual([...plan.failedLinks].sort());
    }
    expect([...total.found].sort()).toEqual([...plan.failedLinks].sort());
    expect(total).toMatchObject({ unseen: [], wrong: [], lossy: [], neverCollected: [], problems: [] });
  });

  test('collects all switches although every fifth packet is lost', async () => {
    const { code, sessions, plan, total } = await run('--topology', 'watts-strogatz:40:4:0.1', '--loss', '0.2');
    expect(code).toBe(0);
    for (const { complete, collected } of sessions)
      expect({ complete, collected }).toEqual({ complete: true, collected: 40 });
    expect(sessions.some(({ recoveryProbes }) => recoveryProbes > plan.failedLinks.length)).toBe(true);
    expect(total.lossy.length).toBeGreaterThan(0);
  });

  test('names a switch that has failed, and a failed link that it was told of', async () => {
    const { sessions, total } = await run(
      '--topology',
      'grid:5x4',
      '--loss',
      '0',
      '--fail',
      'r2c2',
      '--fail',
      'r4c4-r4c5',
    );
    for (const { uncollected } of sessions) expect(uncollected).toEqual([{ name: 'r2c2', reason: 'no-feedback' }]);
    expect(total).toMatchObject({ neverCollected: ['r2c2'], problems: [] });
    expect(total.wrong).toEqual([]);
    expect([...total.found, ...total.unseen]).toContain('r4c4-r4c5');
  });

  test('plans around what is dead, and needs no recovery any more', async () => {
    const args = ['--topology', 'watts-strogatz:40:4:0.1', '--loss', '0', '--fail-random', '3', '--replan'];
    const { sessions } = await run(...args, '--sessions', '4');
    expect(sessions.map(({ recoveryProbes }) => recoveryProbes > 0)).toEqual([true, true, false, false]);
    for (const { complete, probes } of sessions) expect({ complete, probes }).toEqual({ complete: true, probes: 12 });
  });

  test('without recovery names what it has lost', async () => {
    const { code, sessions, plan } = await run('--loss', '0.1', '--no-recovery', '--sessions', '2');
    expect(code).toBe(0);
    for (const { collected, uncollected, recoveryProbes, complete } of sessions) {
      expect(collected + uncollected.length).toBe(plan.switches);
      expect({ complete, recoveryProbes }).toEqual({ complete: false, recoveryProbes: 0 });
      expect(new Set(uncollected.map(({ reason }) => reason))).toEqual(new Set(['lost']));
    }
  });

  test('attached to one switch by lossy links, ends each session and accounts for every switch', async () => {
    const args = ['--topology', 'grid:5x4', '--in-band', 'r1c1', '--loss', '0.25', '--attempts', '1'];
    const { code, sessions, plan } = await run(...args, '--sessions', '2');
    expect(code).toBe(0);
    for (const { collected, uncollected } of sessions) {
      expect(collected + uncollected.length).toBe(plan.switches);
      expect(new Set(uncollected.map(({ name }) => name)).size).toBe(uncollected.length);
    }
    expect(sessions.some(({ uncollected }) => uncollected.length > 0)).toBe(true);
  });

  test('does the same in real time over UDP sockets', async () => {
    const args = ['--topology', 'grid:4x3', '--loss', '0', '--fail-random', '1', '--timeout', '150', '--udp'];
    const { code, sessions, plan, total } = await run(...args, '--sessions', '2');
    expect(code).toBe(0);
    for (const { complete, collected } of sessions)
      expect({ complete, collected }).toEqual({ complete: true, collected: 12 });
    expect(total.found).toEqual(plan.failedLinks);
  });

  test('prints, draws and captures the same for the same seed', async () => {
    const once = async (name: string): Promise<{ text: string; svg: Buffer; pcap: Buffer }> => {
      const [svg, pcap] = [join(folder, `${name}.svg`), join(folder, `${name}.pcap`)];
      const { lines } = await run('--loss', '0.1', '--svg', svg, '--pcap', pcap);
      return { text: lines.join('\n'), svg: readFileSync(svg), pcap: readFileSync(pcap) };
    };
    const first = await once('first');
    const second = await once('second');
    expect(second.text).toBe(first.text);
    expect(second.svg.equals(first.svg)).toBe(true);
    expect(second.pcap.equals(first.pcap)).toBe(true);
  });

  test('captures probes, feedback and recovery notices that decode as such', async () => {
    const pcap = join(folder, 'links.pcap');
    const { sessions, plan } = await run('--topology', 'grid:6x4', '--loss', '0', '--sessions', '1', '--pcap', pcap);
    const kinds = new Map<string, number>();
    for (const { data } of readCapture(readFileSync(pcap))) {
      for (const { status, int } of decodeFrame(data)) {
        expect(status).toBe('ok');
        if (int?.mode !== 'gpint') throw new Error(`no probe: ${JSON.stringify(int)}`);
        kinds.set(int.kind, (kinds.get(int.kind) ?? 0) + 1);
      }
    }
    const { probes, recoveryProbes } = sessions[0]!;
    const sent = probes + recoveryProbes;
    // Each probe that is sent is fed back; each path comes home once, its failed links give a notice each.
    expect(Object.fromEntries(kinds)).toEqual({
      probe: sent + probes,
      feedback: sent,
      recovery: plan.failedLinks.length,
    });
    expect(recoveryProbes).toBe(plan.failedLinks.length);
  });

  test('draws a picture that is well-formed and says in words what it shows', async () => {
    const svg = join(folder, 'picture.svg');
    const { plan } = await run('--topology', 'fat-tree:4', '--loss', '0', '--fail-random', '2', '--svg', svg);
    const text = readFileSync(svg, 'utf8');
    const elements = elementsOf(text);
    expect(elements[0]).toBe('svg');
    expect(text).toMatch(/<svg [^>]*role="img" aria-labelledby="title description"/);
    expect(text).toMatch(/<title id="title">fat-tree:4: 20 switches, 32 links<\/title>/);
    for (const link of plan.failedLinks) expect(/<desc id="description">(.*)<\/desc>/.exec(text)![1]).toContain(link);
    expect(text).toContain('prefers-color-scheme: dark');
    expect(text.match(/class="dead"/g)).toHaveLength(3); // two links and the legend
    expect(text).toContain('collected: 20 of 20 switches');
  });

  test('reads a topology from a file', async () => {
    const path = join(folder, 'edges.txt');
    writeFileSync(path, 'a b\nb c\nc d\nd a\n');
    const { plan, total } = await run('--topology', path, '--paths', '2', '--loss', '0', '--fail', 'a-b');
    expect(plan.paths.flat().sort()).toEqual(['a', 'b', 'c', 'd']);
    expect(total.problems).toEqual([]);
  });
});

describe('the command line', () => {
  test.each([
    [['--loss', '1'], '--loss must be a number from 0 to 0.9'],
    [['--paths', '0'], '--paths must be a whole number from 1'],
    [['--sessions', 'many'], '--sessions'],
    [['--udp', '--speed', '2'], 'not with --speed'],
    [['--in-band', ','], '--in-band needs'],
    [['--frob'], 'Usage: node dist/monitor.js'],
  ])('refuses %j', (args, message) => {
    expect(() => readOptions(args)).toThrow(UsageError);
    expect(() => readOptions(args)).toThrow(message);
  });

  async function program(...args: readonly string[]): Promise<{ code: number; out: string; err: string }> {
    const child = spawn(process.execPath, [PROGRAM, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
    let [out, err] = ['', ''];
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      out += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      err += text;
    });
    const [code] = (await inTime('the end of the program', once(child, 'close'), {
      found: () => out + err,
      inVain: () => child.kill('SIGKILL'),
    })) as [number];
    return { code, out, err };
  }

  test('prints plain lines into a pipe', async () => {
    const { code, out, err } = await program('--topology', 'fat-tree:4', '--loss', '0', '--fail', 'core-1');
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out).toMatch(/^fat-tree:4: 20 switches, 32 links; 6 paths of 3 to 4 visits, overlap 0\n/);
    expect(out).toMatch(/\nsession 3: 19 of 20 switches in \d+\.\d\d s; 6 probes and \d+ for recovery/);
    expect(out).toContain('not collected: core-1 (no-feedback)');
    expect(out).toMatch(/\n {2}never +1 {2}core-1\n {2}failed, in truth +1 {2}core-1\n$/);
    expect(out).not.toContain('\x1b');
  });

  test('ends with code 2 for names and topologies that are none, 3 for files that are not there', async () => {
    const outcomes = await Promise.all([
      program('--topology', 'fat-tree:5'),
      program('--fail', 'nobody'),
      program('--topology', join(folder, 'none.txt')),
      program('--paths', 'x'),
      program('--help'),
    ]);
    expect(outcomes.map(({ code }) => code)).toEqual([2, 2, 3, 2, 0]);
    expect(outcomes.slice(0, 4).map(({ out }) => out)).toEqual(['', '', '', '']);
    expect(outcomes[1]!.err).toContain('"nobody" is neither a switch nor a link');
    expect(outcomes[4]!.out).toContain('Usage:');
  });
});
