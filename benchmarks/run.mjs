// @ts-check
// Runs groups of programs: `node run.mjs GROUP... [--short]`, where GROUP is `bench` or `soak`. One after the other, for each has to have
// the machine; the short form, which shows only that they run, has two at a time, and shows the output of each when it ends.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { parseArgs } from 'node:util';

/** @type {Readonly<Record<string, readonly string[]>>} */
const GROUPS = {
  bench: [
    ...[
      'decode',
      'detect',
      'watches',
      'flowcache',
      'dart',
      'dart-insertion',
      'gpint',
      'knowledge',
      'rehearsal',
      'p4vm',
      'p4runtime',
    ],
    ...['afxdp', 'switch', 'kafka', 'kafka-durability', 'parquet', 'collector', 'metrics-attack', 'dashboard-page'],
    ...['dashboard', 'accelerators', 'hash'],
  ],
  soak: ['afxdp-soak', 'collector-soak'],
};

/** Those that wait for most of their time: in the short form they come first, beside those that compute. */
const WAITING = [
  'switch',
  'afxdp',
  'dashboard',
  'dashboard-page',
  'accelerators',
  'collector',
  'afxdp-soak',
  'collector-soak',
];

const { values, positionals } = parseArgs({ allowPositionals: true, options: { short: { type: 'boolean' } } });
const unknown = positionals.filter((group) => GROUPS[group] === undefined);
if (unknown.length > 0 || positionals.length === 0)
  throw new Error(`groups are bench and soak, not '${unknown.join(' ')}'`);
const programs = positionals.flatMap((group) => GROUPS[group] ?? []);

/**
 * @param {string} name
 * @param {boolean} isAlone whether it has the terminal
 */
async function run(name, isAlone) {
  const began = performance.now();
  const child = spawn(process.execPath, [`dist/${name}.js`, ...(values.short ? ['--short'] : [])], {
    stdio: isAlone ? 'inherit' : ['ignore', 'pipe', 'pipe'],
  });
  running.add(child);
  /** @type {Buffer[]} */
  const output = [];
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (/** @type {Buffer} */ bytes) => output.push(bytes));
  const [code, signal] = await once(child, 'close');
  running.delete(child);
  const seconds = Math.round((performance.now() - began) / 1000);
  if (code !== 0) failed.push(name);
  const end = code === 0 ? '' : ` FAILED (${signal ?? `exit ${code}`})`;
  process.stdout.write(
    `${isAlone ? '' : `\n# ${name}\n`}${Buffer.concat(output).toString()}-- ${name}${end}: ${seconds} s\n`,
  );
}

/** @type {string[]} */
const failed = [];
/** @type {Set<import('node:child_process').ChildProcess>} */
const running = new Set();
for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, () => {
    for (const child of running) child.kill();
    process.exit(1);
  });
}

/** @param {string[]} names one after the other, from the same list as others */
async function lane(names, isAlone = false) {
  for (let name = names.shift(); name !== undefined; name = names.shift()) await run(name, isAlone);
}

if (values.short) {
  const waiting = WAITING.filter((name) => programs.includes(name));
  const computing = programs.filter((name) => !waiting.includes(name));
  await Promise.all([lane(waiting).then(() => lane(computing)), lane(computing).then(() => lane(waiting))]);
} else {
  await lane([...programs], true);
}
for (const name of failed) console.error(`FAILED: ${name}`);
process.exitCode = failed.length > 0 ? 1 : 0;
