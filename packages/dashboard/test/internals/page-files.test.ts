import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { beforeAll, describe, expect, it } from 'vitest';
import { type PageFile, readPageFiles } from '../../src/assets/page-files.js';
import { builtPage } from '../built-page.js';

let folder: string;
let files: ReadonlyMap<string, PageFile>;
beforeAll(async () => {
  folder = await builtPage();
  files = readPageFiles(folder);
});

const text = (name: string): string => Buffer.from(files.get(name)!.bytes).toString('utf8');
/** What the document loads at once, and what these files load at once in turn. */
function firstView(): string[] {
  const names = new Set<string>(['index.html']);
  for (const name of names) {
    const found = name.endsWith('.html')
      ? text(name).matchAll(/(?:src|href)="([^"]+)"/g)
      : text(name).matchAll(/(?:from|import)\s*"\.\/([^"]+)"/g);
    for (const [, each] of found) names.add(each!);
  }
  return [...names];
}

describe('the built page', () => {
  it('loads at most 150 kB, compressed, for its first view', () => {
    const names = firstView();
    expect(names.length).toBeGreaterThanOrEqual(4);
    const bytes = names.map((name) => (files.get(name)!.gzip ?? files.get(name)!.bytes).length);
    expect(bytes.reduce((sum, each) => sum + each, 0)).toBeLessThanOrEqual(150_000);
  });

  it('has nothing inline, nothing from elsewhere, and names that change with the content', () => {
    const document = text('index.html');
    expect(document).not.toMatch(/<script(?![^>]* src=)|<style|\sstyle=|\son\w+=|https?:/);
    for (const [name, { isImmutable, type }] of files) expect(isImmutable, name).toBe(/script|css/.test(type));
    expect([...files.keys()].filter((name) => /\.(?:js|css)$/.test(name)).length).toBeGreaterThanOrEqual(2);
  });

  it('never makes markup or code of text', () => {
    const sources = fileURLToPath(new URL('../../src/page', import.meta.url));
    const names = readdirSync(sources, { recursive: true, encoding: 'utf8' }).filter((name) => /\.tsx?$/.test(name));
    expect(names).toContain('main.tsx');
    const forbidden = /innerHTML|outerHTML|insertAdjacentHTML|\beval\(|new Function|document\.write/i;
    expect(names.filter((name) => forbidden.test(readFileSync(join(sources, name), 'utf8')))).toEqual([]);
  });

  it('keeps the licence of each library that it contains', () => {
    expect(text('LICENSES.txt')).toMatch(/^preact \d/m);
    expect(text('LICENSES.txt')).toContain('Permission is hereby granted');
  });

  it('is compressed, where that is smaller', () => {
    const script = [...files].find(([name]) => name.endsWith('.js'))![1];
    expect(gunzipSync(script.gzip!).equals(script.bytes)).toBe(true);
  });
});

it('says that the page is not built', () => {
  const empty = mkdtempSync(join(tmpdir(), 'int-dashboard-empty-'));
  expect(() => readPageFiles(empty)).toThrow(/not built/);
  rmSync(empty, { recursive: true });
});
