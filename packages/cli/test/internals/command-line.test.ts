import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { COMMANDS } from '../../src/commands/table.js';
import { BIN, run, runBin } from '../run.js';

/** Writes the address of each module that is loaded to standard error. */
const HOOKS = `import { writeSync } from 'node:fs';
export function load(url, context, next) {
  writeSync(2, url + '\\n');
  return next(url, context);
}`;
const dataUrl = (code: string): string => `data:text/javascript,${encodeURIComponent(code)}`;
const REGISTER = dataUrl(`import { register } from 'node:module'; register(${JSON.stringify(dataUrl(HOOKS))});`);

/** The packages, other than the command's own, that a run of the real command loads something of. */
async function packagesLoadedBy(args: readonly string[]): Promise<string[]> {
  const { stderr } = await promisify(execFile)(process.execPath, ['--import', REGISTER, BIN, ...args]);
  const urls = stderr.split('\n').filter((line) => line.startsWith('file:'));
  expect(urls).toContain(new URL('../../dist/index.js', import.meta.url).href);
  const names = urls.map((url) => /.*\/(?:node_modules|packages)\/((?:@[^/]+\/)?[^/]+)/.exec(url)?.[1] ?? url);
  return [...new Set(names)].filter((name) => name !== 'cli').sort();
}

describe('help and version', () => {
  test.each([[['help']], [['--help']], [['-h']]])('int %s lists the commands', async (args) => {
    const { code, stdout, stderr } = await run(args);
    expect(code).toBe(0);
    for (const name of ['decode', 'encode', 'generate', 'collect', 'detect', 'flows', 'plan']) {
      expect(stdout).toContain(`\n  ${name} `);
    }
    expect(stderr).toBe('');
  });

  test.each([
    ['decode', '--int-dscp'],
    ['encode', '--output'],
    ['generate', '--topology'],
    ['collect', '--listen'],
    ['collect', '--rules'],
    ['detect', '--state'],
    ['flows', '--idle'],
    ['flows', '--int-port'],
    ['plan', '--entries'],
  ])('int %s --help and int help %s list %s', async (command, option) => {
    const byOption = await run([command, '--help']);
    const byCommand = await run(['help', command]);
    expect(byOption.code).toBe(0);
    expect(byOption.stdout).toContain(option);
    expect(byCommand).toEqual(byOption);
  });

  test('int --version prints that of the package', async () => {
    const manifest = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
      version: string;
    };
    expect(await run(['--version'])).toMatchObject({ code: 0, stdout: `${manifest.version}\n` });
  });

  test('the real command does the same', async () => {
    const [help, version, wrong] = await Promise.all([runBin(['help']), runBin(['--version']), runBin(['decode'])]);
    expect(help).toMatchObject({ code: 0, stdout: (await run(['help'])).stdout, stderr: '' });
    expect(version).toMatchObject({ code: 0, stdout: (await run(['--version'])).stdout, stderr: '' });
    expect(wrong).toMatchObject({ code: 2, stdout: '' });
  });
});

describe('the table of commands', () => {
  const single = COMMANDS.flatMap((entry) =>
    'commands' in entry ? entry.commands.map((each) => ({ ...each, usage: `${entry.usage} ${each.usage}` })) : [entry],
  );

  test.each(single)('says of int $usage what its own help says', async ({ usage, summary }) => {
    const [name = ''] = usage.split(/ [[<]/);
    const { code, stdout } = await run([...name.split(' '), '--help']);
    expect(code).toBe(0);
    const [first, , ...rest] = stdout.split('\n');
    expect(first).toBe(`Usage: int ${usage}`);
    const [description] = rest.join('\n').split('\n\n');
    expect(description!.replaceAll(/\s+/g, ' ')).toBe(summary);
  });

  test.each([
    ['--version', ['commander']],
    ['--help', ['commander']],
    ['dart --help', ['commander']],
    ['decode --help', ['codec', 'commander', 'hash']],
    ['help query', ['commander']],
  ])('int %s loads nothing that it does not need', async (line, packages) => {
    expect(await packagesLoadedBy(line.split(' '))).toEqual(packages);
  });
});

describe('a wrong command line ends with code 2 and says what to do', () => {
  test.each([
    [[], 'Commands:'],
    [['frobnicate'], "unknown command 'frobnicate'"],
    [['decode'], 'FILE'],
    [['decode', '--frob', 'x'], "unknown option '--frob'"],
    [['decode', '--int-port', '0', 'x'], 'Give a UDP port from 1 to 65535'],
    [['decode', '--int-port', 'ten', 'x'], '--int-port'],
    [['decode', '--int-dscp', '0x40', 'x'], 'from 0 to 63'],
    [['decode', '--int-dscp', '0x17/0x40', 'x'], 'a DSCP mask from 1 to 63'],
    [['decode', '--gre-protocol', '65536', 'x'], '--gre-protocol'],
    [['decode', '--probe-marker', 'zz', 'x'], 'hexadecimal'],
    [['decode', '--report-port', '-1', 'x'], '--report-port'],
    [['decode', '--probe-port', '1', '--probe-port', '2', '--probe-port', '3', 'x'], 'two at most'],
    [['decode', '--profile', 'mine', 'x'], 'spec'],
    [['encode', 'a', 'b'], 'too many arguments'],
    [['generate', '--packets', '0', '-o', '-'], '--packets'],
    [['generate', '--rate', '0', '-o', '-'], 'above 0'],
    [['generate', '--mode', 'all', '-o', '-'], 'md, mx, xd'],
    [['generate', '--topology', 'torus:3', '-o', '-'], 'leaf-spine'],
    [['generate', '--flows', '1', '--topology', 'leaf-spine:0x0', '-o', '-'], '--help'],
    [['generate', '--to', 'localhost:99'], 'udp://HOST:PORT'],
    [['generate', '--to', 'udp://127.0.0.1:9', '-o', 'x'], 'cannot be used with'],
    [['collect'], '--demo'],
    [['collect', '--demo', '--pcap', 'x'], 'cannot be used with'],
    [['collect', '--listen', 'udp://127.0.0.1:1', '--demo'], 'cannot be used with'],
    [['collect', '--listen', '127.0.0.1'], 'udp://HOST:PORT'],
    [['collect', '--listen', 'udp://0.0.0.0:80000'], 'a port is a number from 0 to 65535, not 80000'],
    [['collect', '--demo', '--metrics', '127.0.0.1:80000'], 'a port is a number from 0 to 65535, not 80000'],
    [['replay', 'x', '--to', 'udp://127.0.0.1:80000'], 'a port is a number from 0 to 65535, not 80000'],
    [['collect', '--pcap', 'x', '--speed', '0'], '--speed'],
    [['collect', '--speed', '2', '--demo'], '--speed'],
    [['collect', 'x.pcap'], 'too many arguments'],
    [['collect', '--pcap', 'x', '--state', 'exact'], 'go with --rules'],
    [['collect', '--pcap', '-', '--rules', '-'], 'cannot both be standard input'],
    [['collect', '--demo', '--idle', '1s'], '--state exact'],
    [['detect', 'x.pcap'], '--rules'],
    [['detect', '--rules', 'r.yaml'], 'FILE'],
    [['detect', 'x.pcap', 'y.pcap', '--rules', 'r.yaml'], 'too many arguments'],
    [['detect', '-', '--rules', '-'], 'cannot both be standard input'],
    [['detect', 'x.pcap', '--rules', 'r.yaml', '--state', 'fuzzy'], 'register, exact'],
    [['detect', 'x.pcap', '--rules', 'r.yaml', '--flow-cells', '16777217'], 'from 1 to 16777216'],
    [['detect', 'x.pcap', '--rules', 'r.yaml', '--switch-cells', '0'], 'from 1 to 1048576'],
    [['detect', 'x.pcap', '--rules', 'r.yaml', '--idle', '1s'], '--state exact'],
    [['detect', 'x.pcap', '--rules', 'r.yaml', '--state', 'exact', '--idle', '10'], 'with a unit'],
    [['detect', 'x.pcap', '--rules', 'r.yaml', '--state', 'exact', '--idle', '99999h'], 'at most'],
    [['flows'], 'FILE'],
    [['flows', 'x.pcap', 'y.pcap'], 'too many arguments'],
    [['flows', 'x.pcap', '--rows', '0'], 'from 1 to 268435456'],
    [['flows', 'x.pcap', '--rows', 'many'], '--rows'],
    [['flows', 'x.pcap', '--buckets', '65'], 'from 1 to 64'],
    [['flows', 'x.pcap', '--hops', '0'], 'from 1 to 64'],
    [['flows', 'x.pcap', '--idle', '0'], 'above 0'],
    [['flows', 'x.pcap', '--idle', '0s'], 'above 0'],
    [['flows', 'x.pcap', '--idle', '30'], 'with a unit'],
    [['flows', 'x.pcap', '--idle', '99999h'], 'at most'],
    [['flows', 'x.pcap', '--metrics', 'hopLatency,depth'], "'depth' is none of hopLatency"],
    [['flows', 'x.pcap', '--metrics', 'hopLatency,hopLatency'], 'named twice'],
    [
      [
        'flows',
        'x.pcap',
        '--metrics',
        'reserved8,reserved9,reserved10,reserved11,reserved12,reserved13,reserved14,queueId,bufferId',
      ],
      '8 at most',
    ],
    [['flows', 'x.pcap', '--sort', 'size'], 'packets, latency, duration'],
    [['flows', 'x.pcap', '--top', '0'], '--top'],
  ])('int %j', async (args, expected) => {
    const { code, stdout, stderr } = await run(args);
    expect(code).toBe(2);
    expect(stdout).toBe('');
    expect(stderr).toContain(expected);
  });
});
