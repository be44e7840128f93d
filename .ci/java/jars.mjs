// @ts-check
// Where .ci/scripts/setup-system.sh puts the jars of a server, and what makes it start sooner.
import { existsSync, readdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

/** How the name of an archive of classes ends. */
export const ARCHIVE = '.jsa';

/**
 * @param {'kafka' | 'opensearch'} server
 * @returns {string} the folder of its jars; INT_KAFKA or INT_OPENSEARCH names another
 */
export function folderOfJars(server) {
  const cache = process.env.XDG_CACHE_HOME || join(homedir(), '.cache');
  return process.env[`INT_${server.toUpperCase()}`] ?? join(cache, 'int', server);
}

/**
 * @param {string} folder of the jars
 * @returns {string[]} options with which Java takes the server's classes from the archive that archive.mjs made, if there
 *   is one; Java goes without it, and says nothing, if the archive is not for this Java or these jars
 */
export function archiveOptions(folder) {
  const file = existsSync(folder) && readdirSync(folder).find((name) => name.endsWith(ARCHIVE));
  if (!file) return [];
  const quiet = ['-Xlog:cds=off', '-Xlog:cds+dynamic=off', '-Xlog:class+path=off'];
  return [`-XX:SharedArchiveFile=${join(folder, file)}`, '-Xshare:auto', ...quiet];
}
