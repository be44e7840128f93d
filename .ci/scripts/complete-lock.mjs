// @ts-check
// Completes package-lock.json after `npm install`, when .ci/test/house.test.ts asks for it:
// `node .ci/scripts/complete-lock.mjs`. It adds what npm leaves out when its registry does not offer the binaries of other
// systems: their entries, without which `npm ci` refuses to work anywhere, and their hashes, as soon as the registry has them.
// It takes out the `engines` of the packages in engines.json, which ask for a newer Node than they need.
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { repository } from './workspaces.mjs';

/**
 * @typedef {object} Entry
 * @property {string} [name] where it is not that of its folder
 * @property {string} [version]
 * @property {string} [integrity]
 * @property {boolean} [link]
 * @property {boolean} [dev]
 * @property {string} [license]
 * @property {boolean} [optional]
 * @property {string[]} [os]
 * @property {string[]} [cpu]
 * @property {string[]} [libc]
 * @property {Record<string, string>} [engines]
 * @property {Record<string, string>} [optionalDependencies]
 */

const systems = ['aix', 'android', 'darwin', 'freebsd', 'linux', 'netbsd', 'openbsd', 'openharmony', 'sunos', 'win32'];
const processors = ['arm', 'arm64', 'ia32', 'loong64', 'mips64el', 'ppc64', 'riscv64', 's390x', 'wasm32', 'x64'];

/**
 * The systems a binary package is for, by the usual naming: `cli-linux-arm64-musl`, `binding-win32-x64-msvc`.
 * @param {string} name
 * @returns {Pick<Entry, 'os' | 'cpu' | 'libc'> | undefined} undefined for another kind of name
 */
function platformOf(name) {
  const parts = name.slice(name.lastIndexOf('/') + 1).split('-');
  const words = parts.map((part) => ({ windows: 'win32', 64: 'x64' })[part] ?? part);
  const os = words.filter((word) => systems.includes(word));
  const cpu = words.filter((word) => processors.includes(word));
  if (os.length !== 1 || cpu.length !== 1) return undefined;
  const libc = words.some((word) => word.startsWith('musl'))
    ? ['musl']
    : words.some((word) => word === 'gnu' || word.startsWith('gnueabi'))
      ? ['glibc']
      : undefined;
  return { cpu, ...(libc !== undefined && os[0] === 'linux' ? { libc } : {}), os };
}

const file = join(repository, 'package-lock.json');
/** @type {{ packages: Record<string, Entry> }} */
const lock = JSON.parse(readFileSync(file, 'utf8'));
let added = 0;

for (const { optionalDependencies, dev, license, engines } of Object.values(lock.packages)) {
  const names = Object.keys(optionalDependencies ?? {});
  /** @param {string} name */
  const folderOf = (name) => Object.keys(lock.packages).find((key) => key.endsWith(`node_modules/${name}`));
  // Binaries of one package lie side by side: where one is, the others belong.
  const sibling = names.find((name) => folderOf(name) !== undefined);
  const parent = sibling === undefined ? 'node_modules/' : (folderOf(sibling) ?? '').slice(0, -sibling.length);

  for (const name of names.filter((each) => folderOf(each) === undefined)) {
    const platform = platformOf(name);
    const version = optionalDependencies?.[name] ?? '';
    if (platform === undefined || !/^\d/.test(version)) {
      console.error(`complete-lock: cannot tell what ${name}@${version} is for; add it by hand`);
      process.exitCode = 1;
      continue;
    }
    lock.packages[parent + name] = {
      version,
      cpu: platform.cpu ?? [],
      ...(dev === undefined ? {} : { dev }),
      ...(platform.libc === undefined ? {} : { libc: platform.libc }),
      ...(license === undefined ? {} : { license }),
      optional: true,
      os: platform.os ?? [],
      ...(engines === undefined ? {} : { engines }),
    };
    added++;
  }
}

/**
 * The hash of a package, as the registry has it.
 * @param {string} name
 * @param {string} version
 * @returns {string | undefined} undefined if it does not offer this version
 */
function integrityOf(name, version) {
  const { stdout } = spawnSync('npm', ['view', `${name}@${version}`, 'dist.integrity'], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
    shell: process.platform === 'win32',
  });
  return /^sha512-\S+$/m.exec(stdout)?.[0];
}

const PLACE = 'node_modules/';
let hashed = 0;
for (const [key, entry] of Object.entries(lock.packages)) {
  if (!key.includes(PLACE) || entry.link === true || entry.integrity !== undefined) continue;
  const { name = key.slice(key.lastIndexOf(PLACE) + PLACE.length), version = '' } = entry;
  const integrity = integrityOf(name, version);
  if (integrity === undefined) {
    console.error(
      `complete-lock: the registry does not offer ${name}@${version}; take a version of which it has all binaries`,
    );
    process.exitCode = 1;
    continue;
  }
  const { version: _, ...rest } = entry;
  // In the order in which npm writes them.
  lock.packages[key] = { version, integrity, ...rest };
  hashed++;
}

/** @type {{ packages: Record<string, string> }} */
const needLess = JSON.parse(readFileSync(join(repository, '.ci', 'scripts', 'engines.json'), 'utf8'));
let silenced = 0;
for (const name of Object.keys(needLess.packages)) {
  const at = name.lastIndexOf('@');
  const entry = lock.packages[PLACE + name.slice(0, at)];
  if (entry?.version !== name.slice(at + 1) || entry.engines === undefined) continue;
  delete entry.engines;
  silenced++;
}

if (added + hashed + silenced > 0) {
  const sorted = Object.entries(lock.packages).sort(([a], [b]) => a.localeCompare(b, 'en'));
  lock.packages = Object.fromEntries(sorted);
  writeFileSync(file, `${JSON.stringify(lock, null, 2)}\n`);
}
console.error(`complete-lock: added ${added} entries and ${hashed} hashes; took out ${silenced} engines.`);
