// @ts-check
// Makes an archive of the classes that Kafka and OpenSearch load, next to their jars, once for each Java: with it they start
// in half the processor time. Called by .ci/scripts/setup-system.sh. Nothing needs the archives.
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SMALL, startCluster } from '../kafka/cluster.mjs';
import { anyPort, commandOf, portIn, STARTED } from '../opensearch/command.mjs';
import { ARCHIVE, folderOfJars } from './jars.mjs';

/** A server that takes longer to start is given up, in milliseconds. */
const PATIENCE_MS = 120_000;

/** @param {string[]} jvm */
async function kafka(jvm) {
  const data = mkdtempSync(join(tmpdir(), 'int-archive-'));
  try {
    const cluster = await startCluster({ data, remove: data, jvm: [...SMALL, ...jvm] });
    // In order: Java writes the archive when it ends.
    await cluster.close();
  } finally {
    rmSync(data, { recursive: true, force: true });
  }
}

/**
 * What is used belongs to the archive too.
 * @param {string} url
 */
async function useOnce(url) {
  const send = (/** @type {string} */ path, /** @type {string} */ body) =>
    fetch(url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
      signal: AbortSignal.timeout(PATIENCE_MS),
    }).then((response) => response.text());
  await send('/_bulk?refresh=true', '{"create":{"_index":"a","_id":"1"}}\n{"b":1}\n');
  await send('/a/_search', '{"query":{"range":{"b":{"gte":0}}}}');
}

/** @param {string[]} jvm */
async function opensearch(jvm) {
  const data = mkdtempSync(join(tmpdir(), 'int-archive-'));
  /** @type {import('node:child_process').ChildProcess | undefined} */
  let started;
  try {
    const config = join(data, 'node_1', 'config');
    mkdirSync(config, { recursive: true });
    writeFileSync(join(config, 'opensearch.yml'), 'network.host: 127.0.0.1\ndiscovery.type: single-node\n');
    const command = commandOf(folderOfJars('opensearch'), data, anyPort(), jvm);
    const child = spawn('java', command, { stdio: ['ignore', 'pipe', 'ignore'], cwd: data, timeout: PATIENCE_MS });
    started = child;
    const ended = once(child, 'exit');
    let output = '';
    let isUsed = false;
    for await (const bytes of child.stdout) {
      output += bytes;
      if (isUsed || !output.includes(STARTED)) continue;
      isUsed = true;
      await useOnce(`http://127.0.0.1:${portIn(output)}`);
      child.kill('SIGTERM');
    }
    await ended;
    if (!isUsed) throw new Error(`OpenSearch did not start: ${output}`);
  } finally {
    started?.kill('SIGKILL');
    rmSync(data, { recursive: true, force: true });
  }
}

const { status, stderr } = spawnSync('java', ['-version'], { encoding: 'utf8' });
// Such as 17.0.15+6-Debian-1deb12u1.
const version = status === 0 ? /\(build ([\w.+-]+)/.exec(stderr)?.[1] : undefined;
for (const [server, startAndStop] of /** @type {const} */ ([
  ['kafka', kafka],
  ['opensearch', opensearch],
])) {
  const folder = folderOfJars(server);
  const archive = join(folder, `classes-${version}${ARCHIVE}`);
  if (version === undefined || !existsSync(join(folder, 'pom.xml')) || existsSync(archive)) continue;
  const made = join(folder, `classes.${process.pid}`);
  try {
    await startAndStop([`-XX:ArchiveClassesAtExit=${made}`, '-Xlog:disable']);
    // Java does not survive one that is cut short, as by a full disk.
    const verify = ['-XX:+VerifySharedSpaces', '-Xshare:on', `-XX:SharedArchiveFile=${made}`];
    execFileSync('java', [...verify, '-cp', join(folder, '*'), '-version'], { cwd: tmpdir(), timeout: PATIENCE_MS });
    for (const old of readdirSync(folder).filter((name) => name.endsWith(ARCHIVE))) rmSync(join(folder, old));
    // Whole, or not there.
    renameSync(made, archive);
  } catch {
    // A Java that cannot make one, such as Java 11: the server starts as it does without.
    rmSync(made, { force: true });
  }
}
