import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';

/** A file of the page, ready to be sent. */
export interface PageFile {
  readonly type: string;
  readonly bytes: Uint8Array;
  /** The same, compressed; `null` where that saves nothing. */
  readonly gzip: Uint8Array | null;
  /** Whether its name changes with its content, so that a browser may keep it. */
  readonly isImmutable: boolean;
}

const TYPES: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
  txt: 'text/plain; charset=utf-8',
};
/** `page-4TVQZK3H.js` */
const HASHED = /-[A-Z0-9]{8}\.(?:js|css)$/;

/** The folder of the built page: beside the built module, or of sources that run as they are, in the package's `dist`. */
function pageFolders(): string[] {
  const here = dirname(typeof __filename === 'string' ? __filename : fileURLToPath(import.meta.url));
  return [join(here, 'page'), join(here, '..', '..', 'dist', 'page')];
}

/**
 * The files of the page, by their names; that of the document is `index.html`. All are read once, so that a request never
 * reads a disk, and cannot name any other file.
 *
 * @param folder where they are, instead of in this package
 * @throws Error if the page is not built
 */
export function readPageFiles(folder?: string): ReadonlyMap<string, PageFile> {
  for (const each of folder === undefined ? pageFolders() : [folder]) {
    let names: string[];
    try {
      names = readdirSync(each);
    } catch {
      continue;
    }
    if (!names.includes('index.html')) continue;
    return new Map(names.flatMap((name) => fileOf(join(each, name), name)));
  }
  throw new Error(`the dashboard's page is not built${folder === undefined ? ': npm run build' : `: ${folder}`}`);
}

function fileOf(path: string, name: string): [string, PageFile][] {
  const type = TYPES[name.slice(name.lastIndexOf('.') + 1)];
  if (type === undefined) return [];
  const bytes = readFileSync(path);
  const gzip = gzipSync(bytes, { level: 9 });
  const isSmaller = gzip.length < bytes.length;
  return [[name, { type, bytes, gzip: isSmaller ? gzip : null, isImmutable: HASHED.test(name) }]];
}
