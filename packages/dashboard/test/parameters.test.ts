/** Requests against what the OpenAPI document says of them: what it does not allow is refused, by name, and all else is answered. */
import { Collector, DetectionStage } from '@int/collector';
import { readRules } from '@int/detect/yaml';
import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { runs } from '../../../.ci/test/length.js';
import { until } from '../../../.ci/test/until.js';
import { openDashboard } from './pages.js';
import { PlainControl } from './plain-control.js';
import { RecordSource } from './record-source.js';

const RULES = `
version: 1
rules: [{ name: any, priority: 1, match: any, detect: { threshold: { metric: hopLatency, threshold: 1200, scope: hop } } }]
`;

type Schema = Readonly<Record<string, unknown>>;
interface Operation {
  readonly parameters: readonly { readonly name: string; readonly in: string; readonly schema: Schema }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> };
  readonly responses: Readonly<
    Record<string, { readonly content: Readonly<Record<string, { readonly schema: { $ref: string } }>> }>
  >;
}
interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

const LIKELY = [
  '',
  ' ',
  '0',
  '1',
  '1.5',
  '-1',
  '5',
  '65',
  '1000',
  '1001',
  '1e3',
  '1e999',
  'NaN',
  'Infinity',
  '0x10',
  '١',
  '1,5',
  'null',
  'true',
  '[]',
  '{}',
  '1700000000000',
  '99999999999999',
  'all',
  'switch:1',
  'queue:1/0',
  'queue:1',
  'link:1:*-5:*',
  'reports',
  'latencyP99',
  'switch',
  'queue',
  '-reports',
  'open',
  'live',
  'block',
  'scan-vertical/host:10.0.0.3/3',
  'pathLatencyNs',
  'switch=1',
  'latencey>5',
  "' OR 1=1 --",
  '../../etc/passwd',
  '\u0000',
  '𝔘',
  '1-00000000-00000000',
  'x'.repeat(1200),
] as const;

/** What a parameter's text is for its schema. */
function asParameter(schema: Schema, text: string): unknown {
  const isNumber = schema.type === 'number' || schema.type === 'integer';
  return isNumber && /^-?\d+(\.\d+)?([eE][+-]?\d+)?$/.test(text) ? Number(text) : text;
}

test('what the document does not allow is refused by name, and nothing else is a fault of the server', async () => {
  const dashboard = await openDashboard({ control: new PlainControl() });
  const source = new RecordSource();
  const collector = new Collector({
    sources: [source],
    stages: [new DetectionStage(readRules(RULES))],
    sinks: [dashboard],
  });
  const ask = async (
    path: string,
    init?: RequestInit,
  ): Promise<{ readonly status: number; readonly body: { error?: { code: string; message: string } } }> => {
    for (;;) {
      const answer = await fetch(new URL(`api/v1/${path}`, dashboard.url), init);
      const body = (await answer.json()) as { error?: { code: string; message: string } };
      // The server takes so many a second.
      if (body.error?.code !== 'ERR_RATE') return { status: answer.status, body };
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  };
  try {
    await collector.start();
    source.send(300);
    source.pass(500);
    const document = (await ask('openapi.json')).body as unknown as Document;
    const ajv = new Ajv2020({ strict: false }).addSchema({ $id: 'document', ...document });
    await until(
      'reports',
      async () => ((await ask('reports?limit=1')).body as { rows?: unknown[] }).rows?.length === 1,
      { everyMs: 60 },
    );

    const gets = Object.entries(document.paths).flatMap(([path, { get }]) => {
      const parameters = (get?.parameters ?? []).filter(
        ({ in: place, name }) => place === 'query' && name !== 'replay',
      );
      return parameters.length === 0 ? [] : [{ path: path.replace('/api/v1/', ''), get: get!, parameters }];
    });
    expect(gets.map(({ path }) => path).sort()).toEqual([
      'annotations',
      'control/hosts',
      'control/incidents',
      'control/journal',
      'control/proposals',
      'events',
      'flows',
      'reports',
      'series',
      'topology',
      'worst',
    ]);
    const request = fc
      .constantFrom(...gets)
      .chain(({ path, get, parameters }) =>
        fc
          .array(
            fc.tuple(
              fc.constantFrom(...parameters),
              fc.oneof({ weight: 8, arbitrary: fc.constantFrom(...LIKELY) }, fc.string()),
            ),
            { maxLength: 3 },
          )
          .map((chosen) => ({ path, get, chosen: [...new Map(chosen.map((each) => [each[0].name, each])).values()] })),
      );
    await fc.assert(
      fc.asyncProperty(request, async ({ path, get, chosen }) => {
        const query = new URLSearchParams(chosen.map(([{ name }, text]): [string, string] => [name, text]));
        const { status, body } = await ask(`${path}?${query}`);
        expect(status, body.error?.message).not.toBe(500);
        const wrong = chosen.filter(([{ schema }, text]) => {
          const isList = schema.type === 'array';
          return !ajv.validate(isList ? (schema.items as Schema) : schema, asParameter(schema, text));
        });
        if (wrong.length > 0) {
          expect([status, body.error?.code], `${path}?${query}`).toEqual([
            400,
            expect.stringMatching(/^ERR_(PARAMETER|FILTER)$/),
          ]);
        }
        const { schema } = (get.responses[status] ?? get.responses.default)!.content['application/json']!;
        expect(ajv.validate({ $ref: `document${schema.$ref}` }, body), `${path}?${query}: ${ajv.errorsText()}`).toBe(
          true,
        );
      }),
      { numRuns: runs(2500), seed: 22 },
    );

    for (const [path, message] of [
      ['events?limit=1.5', 'limit must be a whole number from 1 to 1000'],
      ['events?from=5&to=5', 'from must be before to'],
      ['reports?from=5&to=4', 'from must be before to'],
      ['annotations?from=5&to=4', 'from must be before to'],
      ['flows?at=', 'at must be a number from 0 to 9223372036854'],
      ['flows?limt=5', '"limt" is none of filter, limit, sort, at, replay'],
      ['events?limit=5&limit=6', 'limit is given more than once'],
      ['status?verbose=1', '"verbose" is none of replay'],
    ] as const) {
      expect(await ask(path), path).toMatchObject({ status: 400, body: { error: { code: 'ERR_PARAMETER', message } } });
    }
    const send = (path: string, body: unknown, method = 'POST') =>
      ask(path, { method, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });
    for (const [path, body, message] of [
      ['replays', { from: 1, to: 2, sped: 1 }, '"sped" is none of from, to, capture, speed'],
      ['replays', { from: 2, to: 1 }, 'from must be before to'],
      ['replays', { from: '1', to: 2 }, 'from must be a time in milliseconds'],
      ['replays', { capture: 5 }, 'capture must be a name of GET /api/v1/captures'],
      ['annotations', { text: 'x', timeMs: -1 }, 'timeMs must be a time in milliseconds'],
      ['control/orders', { order: 'stop', all: true }, '"all" is none of order, proposal, entries, by, reason'],
      ['control/orders', { order: 'stop', by: 'x'.repeat(65) }, 'by must be a text of 1 to 64 characters on one line'],
      ['rules/check', { yaml: '', save: true }, '"save" is none of yaml'],
    ] as const) {
      expect(await send(path, body), path).toMatchObject({
        status: 400,
        body: { error: { code: 'ERR_BODY', message } },
      });
    }
    // Bodies at random: refused or answered, and never a fault.
    const posts = Object.entries(document.paths).flatMap(([path, { post }]) =>
      post?.requestBody === undefined
        ? []
        : [{ path: path.replace('/api/v1/', ''), schema: post.requestBody.content['application/json']!.schema }],
    );
    const member = fc.oneof(
      fc.constantFrom<unknown>(null, true, 0, -1, 1.5, 1e300, '', 'all', [], {}),
      fc.string(),
      fc.double(),
    );
    const sent = fc.constantFrom(...posts).chain(({ path, schema }) => {
      const names = Object.keys(schema.properties as object);
      return fc.record({
        path: fc.constant(path),
        schema: fc.constant(schema),
        body: fc.oneof({ weight: 6, arbitrary: fc.dictionary(fc.constantFrom(...names), member) }, member),
      });
    });
    await fc.assert(
      fc.asyncProperty(sent, async ({ path, schema, body }) => {
        const { status, body: answer } = await send(path, body);
        expect(status, `${path} ${JSON.stringify(body)}: ${answer.error?.message}`).not.toBe(500);
        if (!ajv.validate(schema, JSON.parse(JSON.stringify(body)))) {
          expect(status, `${path} ${JSON.stringify(body)}`).toBeGreaterThanOrEqual(400);
        }
      }),
      { numRuns: runs(800), seed: 22 },
    );
  } finally {
    await collector.stop();
  }
});
