import { pathToFileURL } from 'node:url';

/**
 * The code of the workers: a module beside the one built from this file. In CommonJS, `__filename` tells where that is,
 * and `import.meta` is empty.
 */
export function workerFile(): URL {
  const here = typeof __filename === 'string' ? pathToFileURL(__filename) : import.meta.url;
  return new URL('./shard-worker.js', here);
}
