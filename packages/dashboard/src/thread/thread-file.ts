import { pathToFileURL } from 'node:url';

/** The code of the thread: a module beside the one built from this file. In CommonJS, `import.meta` is empty and `__filename` gives the path. */
export function threadFile(): URL {
  const here = typeof __filename === 'string' ? pathToFileURL(__filename) : import.meta.url;
  return new URL('./dashboard-thread.js', here);
}
