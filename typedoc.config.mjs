// @ts-check
import { relative } from 'node:path';
import { OptionDefaults } from 'typedoc';
import { entryPoints, publicPackages, repository, sourceOf } from './.ci/scripts/workspaces.mjs';

/** Source file of each entry point that users are promised, and the name it is imported by. */
const modules = publicPackages().flatMap((workspace) =>
  entryPoints(workspace.manifest).flatMap((path) => {
    if (path === './internals') return [];
    const source = sourceOf(workspace, path);
    const name = workspace.manifest.name + path.slice(1);
    return source === undefined ? [] : [{ source: relative(repository, source), name }];
  }),
);

/** Names the modules of the documentation as one imports them, instead of after their folders.
 * @param {import('typedoc').Application} app */
export function load(app) {
  app.converter.on('createDeclaration', (context, reflection) => {
    const source = context.getSymbolFromReflection(reflection)?.declarations?.[0];
    if (source === undefined || !('fileName' in source)) return;
    const path = relative(repository, String(source.fileName));
    reflection.name = modules.find((each) => each.source === path)?.name ?? reflection.name;
  });
}

/** @type {Partial<import('typedoc').TypeDocOptions>} */
export default {
  name: '@int',
  entryPoints: modules.map(({ source }) => source),
  tsconfig: 'tsconfig.json',
  out: 'docs/api',
  // The README links to folders, which a web page does not show.
  readme: 'none',
  plugin: [load],
  // npm run typecheck does this, over more files.
  skipErrorChecking: true,
  excludeInternal: true,
  excludePrivate: true,
  // What protoc-gen-es writes above each message and field; a page says it by its title.
  blockTags: [...OptionDefaults.blockTags, '@generated'],
  excludeTags: ['@generated'],
  // The commit and its host differ from clone to clone; the sources are in the packages.
  disableSources: true,
  sort: ['kind', 'alphabetical'],
};
