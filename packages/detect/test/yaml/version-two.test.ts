import { compileRule, compileRules, exportTables, overlaps, type RuleSet, RulesError } from '@int/detect';
import { type ReadRulesOptions, readRules } from '@int/detect/yaml';
import { DeviceProfile, Topology } from '@int/network';
import { describe, expect, it } from 'vitest';

const TOPOLOGY = new Topology({
  switches: { 1: { name: 'leaf-1' }, 3: { name: 'leaf-3' }, 101: { name: 'spine-1' } },
  hosts: { servers: { addresses: ['10.1.0.0/16', '2001:db8:1::/48'] }, clients: { addresses: ['10.2.0.0/16'] } },
});

const file = (rule: string, head = ''): string => `version: 2\n${head}rules:\n  - ${rule.replaceAll('\n', '\n    ')}\n`;

function problems(text: string, options: ReadRulesOptions = {}): string[] {
  try {
    readRules(text, options);
    return [];
  } catch (error) {
    if (!RulesError.is(error)) throw error;
    return error.problems.map(({ line, column, code, message }) => `${line}:${column} ${code} ${message}`);
  }
}

const only = (set: RuleSet) => set.rules[0]!;

describe('rules of version 2', () => {
  it('match switches, queues and interfaces by number, range, list and name', () => {
    const match = `name: q\npriority: 1\nmatch: { switch: [leaf-3, 7-9, 101], queue: 2, egressInterface: 1-4, dscp: [ef, 8-15, 0x1] }\ndetect: { noop: {} }`;
    expect(only(readRules(file(match), { topology: TOPOLOGY })).match).toMatchObject({
      protocol: null,
      hops: {
        switches: [
          { from: 3, to: 3 },
          { from: 7, to: 9 },
          { from: 101, to: 101 },
        ],
        queues: [{ from: 2, to: 2 }],
        egressInterfaces: [{ from: 1, to: 4 }],
      },
      dscp: [
        { from: 46, to: 46 },
        { from: 8, to: 15 },
        { from: 1, to: 1 },
      ],
    });
  });

  it('match groups of hosts, at one end or at either', () => {
    const rule = 'name: g\npriority: 1\nmatch: { source: group:clients, destination: servers }\ndetect: { noop: {} }';
    const { match } = only(readRules(file(rule), { topology: TOPOLOGY }));
    expect(match.source).toBeNull();
    expect(match.sourceGroup).toEqual([{ version: 4, words: [0x0a020000], length: 16 }]);
    expect(match.destinationGroup).toEqual([
      { version: 4, words: [0x0a010000], length: 16 },
      { version: 6, words: [0x20010db8, 0x00010000, 0, 0], length: 48 },
    ]);
    const either = only(
      readRules(file('name: g\npriority: 1\nmatch: { group: servers }\ndetect: { noop: {} }'), { topology: TOPOLOGY }),
    ).match;
    expect(either.group).toHaveLength(2);
    expect(overlaps(match, either)).toBe(true);
    const toClients = compileRule({
      name: 'c',
      match: { source: '10.2.0.0/16', destination: '10.2.0.0/16' },
      detect: { noop: {} },
      priority: 1,
    }).match;
    expect(overlaps(either, toClients)).toBe(false);
  });

  it('say when events begin and end', () => {
    const rule =
      'name: hot\npriority: 1\nmatch: any\ndetect: { threshold: { metric: queueOccupancy, threshold: 100 } }\n' +
      'for: 10s\nclear: 40\nevery: 1min\nseverity: critical\nkey: queue';
    expect(only(readRules(file(rule))).lifecycle).toEqual({
      severity: 'critical',
      key: 'queue',
      forMs: 10_000,
      clear: 40,
      everyMs: 60_000,
    });
    expect(
      only(readRules(file('name: a\npriority: 1\nmatch: any\ndetect: { pathChange: {} }'))).lifecycle,
    ).toBeUndefined();
    expect(
      only(readRules(file('name: a\npriority: 1\nmatch: any\ndetect: { pathChange: {} }\nseverity: info'))).lifecycle,
    ).toEqual({
      severity: 'info',
      key: null,
      forMs: 0,
      clear: null,
      everyMs: null,
    });
  });

  it('have detectors that look at time', () => {
    const detect = (text: string) =>
      only(
        readRules(
          file(`name: w\npriority: 1\nmatch: any\ndetect: { ${text} }`, 'units: { queueOccupancy: { cell: 100B } }\n'),
        ),
      ).detector;
    expect(
      detect('baseline: { metric: hopLatency, above: 2x, below: 0.5x, key: link, learn: 10min, season: day }'),
    ).toEqual({
      kind: 'baseline',
      metric: 'hopLatency',
      above: 2,
      below: 0.5,
      key: 'link',
      learnMs: 600_000,
      season: 'day',
    });
    expect(detect('rate: { above: 1000/s, of: drops }')).toEqual({
      kind: 'rate',
      above: 1000,
      of: 'drops',
      key: 'all',
    });
    expect(detect('absent: { key: flow, for: 30s }')).toEqual({ kind: 'absent', key: 'flow', forMs: 30_000 });
    expect(detect('burst: { metric: queueOccupancy, above: 1000B, within: 1ms }')).toEqual({
      kind: 'burst',
      metric: 'queueOccupancy',
      above: 10,
      withinNs: 1_000_000,
      key: 'queue',
    });
  });

  it('with decide: all need no priority, and may match the same', () => {
    const rule = 'name: a\nmatch: any\ndetect: { noop: {} }';
    const set = readRules(`${file(rule, 'decide: all\n')}  - { name: b, match: any, detect: { pathChange: {} } }\n`);
    expect(set.decide).toBe('all');
    expect(set.rules.map(({ priority }) => priority)).toEqual([0, 0]);
    expect(set.warnings).toBeUndefined();
    expect(problems(file(rule))[0]).toContain('MISSING_KEY a rule needs priority');
  });

  it('warn of a rule that is never reached, with the lines of both', () => {
    const set = readRules(
      'version: 2\nrules:\n  - { name: web, priority: 9, match: { protocol: tcp, source: 10.0.0.0/8 }, detect: { noop: {} } }\n' +
        '  - { name: narrow, priority: 5, match: { protocol: tcp, source: 10.1.0.0/16, destinationPort: 80 }, detect: { noop: {} } }\n' +
        '  - { name: reached, priority: 4, match: { source: 10.1.0.0/16 }, detect: { noop: {} } }\n' +
        '  - { name: at-3, priority: 3, match: { switch: 3, source: 10.1.2.0/24 }, detect: { noop: {} } }\n',
    );
    expect(set.warnings?.map(({ code, line, other, message }) => [code, line, other?.line, message])).toEqual([
      [
        'UNREACHABLE',
        4,
        3,
        '"narrow" is never reached: "web" has a higher priority and matches all that it matches; give it a higher priority, or remove it (the other is in line 3)',
      ],
      ['UNREACHABLE', 6, 5, expect.stringContaining('"at-3" is never reached: "reached"')],
    ]);
  });

  it('are refused in a file of version 1, with a hint', () => {
    const rule =
      '{ name: a, priority: 1, match: { switch: 3 }, detect: { absent: { for: 1s } }, for: 10s, severity: info }';
    expect(problems(`version: 1\ndecide: all\nrules:\n  - ${rule}\n`)).toEqual(
      ['2:1', '4:38', '4:61', '4:84', '4:94'].map((place) =>
        expect.stringMatching(
          new RegExp(`^${place} UNKNOWN_KEY .*into a file of version 2: write version: 2 at its top`),
        ),
      ),
    );
  });

  it.each([
    ['match: { switch: leaf-9 }', 'BAD_VALUE "leaf-9" is no switch'],
    ['match: { switch: [] }', 'BAD_VALUE switch names none'],
    ['match: { queue: 9-3 }', 'BAD_VALUE "9-3" ends before it starts: write 3-9'],
    ['match: { dscp: 64 }', 'BAD_VALUE dscp is a number from 0 to 63'],
    ['match: { group: server }', 'BAD_VALUE the topology has no hosts called "server"; did you mean servers?'],
    ['match: { switchId: 3 }', 'UNKNOWN_KEY a match has no key "switchId": write switch: 3'],
    ['for: 10', 'WRONG_TYPE for is a duration with a unit'],
    ['clear: 40', 'BAD_VALUE noop has no level that an event could end at'],
    ['key: switch', 'BAD_VALUE what noop finds here has no switch: write key: flow, or key: all'],
    ['severity: bad', 'BAD_VALUE "bad" is no severity'],
    ['detect: { baseline: { metric: hopLatency } }', 'MISSING_KEY baseline needs above or below'],
    ['detect: { baseline: { metric: hopLatency, above: 0.5x } }', 'BAD_VALUE "0.5x" is no multiple for above'],
    ['detect: { absent: { for: 1s } }\nkey: switch', 'BAD_VALUE absent has a key of its own'],
    [
      'detect: { threshold: { metric: queueOccupancy, threshold: 10 } }\nclear: 40',
      'BAD_VALUE clear is above the threshold',
    ],
  ])('refuse %s', (part, expected) => {
    const match = part.startsWith('match') ? '' : 'match: any\n';
    const detect = part.startsWith('detect') ? '' : 'detect: { noop: {} }\n';
    const found = problems(file(`name: a\npriority: 1\n${match}${detect}${part}`), { topology: TOPOLOGY });
    expect(found).toHaveLength(1);
    expect(found[0]).toMatch(/^\d+:\d+ /);
    expect(found[0]).toContain(expected);
  });

  it('are hints to switch on a topology where none is given', () => {
    expect(problems(file('name: a\npriority: 1\nmatch: { group: servers }\ndetect: { noop: {} }'))[0]).toContain(
      'nothing says who "servers" is: give a topology',
    );
  });

  it('overlap at one priority if a report can match both: at different switches, but not with different DSCP', () => {
    const two = (a: string, b: string): string =>
      `version: 2\nrules:\n  - { name: a, priority: 1, match: { ${a} }, detect: { noop: {} } }\n  - { name: b, priority: 1, match: { ${b} }, detect: { noop: {} } }\n`;
    expect(problems(two('switch: 3', 'switch: 4'))).toEqual([expect.stringContaining('OVERLAP')]);
    expect(problems(two('dscp: 3', 'dscp: 4'))).toEqual([]);
    expect(problems(two('dscp: 3-9', 'dscp: 4'))).toEqual([expect.stringContaining('OVERLAP')]);
  });

  it('are refused by name where the data plane cannot run them', () => {
    const refusal = (text: string): string => {
      try {
        exportTables(readRules(text, { topology: TOPOLOGY }));
        return '';
      } catch (error) {
        if (!RulesError.is(error)) throw error;
        return error.problems.map(({ path, message }) => `${path.join('.')} ${message}`).join('; ');
      }
    };
    expect(refusal(file('name: a\npriority: 1\nmatch: { switch: 3 }\ndetect: { noop: {} }'))).toBe(
      'rules.0.match the data plane does not match switches, queues and egress interfaces: hosts only',
    );
    expect(refusal(file('name: a\npriority: 1\nmatch: { group: servers }\ndetect: { noop: {} }\nfor: 1s'))).toBe(
      'rules.0.match the data plane does not match groups of hosts: hosts only; ' +
        'rules.0 the data plane has no events with a beginning and an end (for, clear, every, severity, key): hosts only',
    );
    expect(refusal(file('name: a\nmatch: any\ndetect: { noop: {} }', 'decide: all\n'))).toBe(
      'decide in the data plane one rule decides each report: write decide: first',
    );
    expect(refusal(file('name: a\npriority: 1\nmatch: any\ndetect: { absent: { for: 1s } }'))).toContain(
      'the data plane has no absent detector',
    );
    // What the switch can run stays exportable.
    expect(refusal(file('name: a\npriority: 1\nmatch: any\ndetect: { noop: {} }', 'decide: first\n'))).toBe('');
  });
});

describe('units of a device profile', () => {
  const profile = new DeviceProfile({
    units: { hopLatency: 'us', queueOccupancy: 'cells' },
    switches: { '3-4': { units: { hopLatency: 'ns' } } },
  });
  const rules = (units: string): string =>
    `version: 1\n${units}rules:\n  - { name: a, priority: 1, match: any, detect: { perHop: { metric: hopLatency, threshold: 20us } } }\n`;

  it('hold where the rules say nothing, switch by switch', () => {
    expect(only(readRules(rules(''), { profile })).detector).toEqual({
      kind: 'perHop',
      metric: 'hopLatency',
      threshold: 20,
      switchThresholds: new Map([
        [3, 20_000],
        [4, 20_000],
      ]),
    });
    expect(problems(rules(''))[0]).toContain('UNDECLARED_UNIT');
  });

  it('give way to those of the rules, metric by metric', () => {
    expect(only(readRules(rules('units: { hopLatency: 10ns }\n'), { profile })).detector).toEqual({
      kind: 'perHop',
      metric: 'hopLatency',
      threshold: 2000,
    });
    const both = compileRules(
      {
        version: 1,
        units: { hopLatency: 'ns' },
        rules: [
          {
            name: 'q',
            priority: 1,
            match: 'any',
            detect: { perHop: { metric: 'queueOccupancy', threshold: '7 cells' } },
          },
        ],
      },
      { profile },
    );
    expect(only(both).detector).toMatchObject({ threshold: 7 });
  });

  it('say that a switch without a unit counts plain numbers', () => {
    const some = new DeviceProfile({ switches: { 3: { units: { hopLatency: 'ns' } } } });
    expect(problems(rules(''), { profile: some })[0]).toContain('counts plain numbers');
  });
});
