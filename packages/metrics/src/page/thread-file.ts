import { pathToFileURL } from 'node:url';

/**
 * The code of the thread: a module beside the one that is built from this file. In CommonJS the place of that one is
 * `__filename`, and `import.meta` is empty.
 */
export function threadFile(): URL {
  const here = typeof __filename === 'string' ? pathToFileURL(__filename) : import.meta.url;
  return new URL('./page-thread.js', here);
}
