import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSwitch, P4Error } from '@int/p4vm';
import { lineColumn } from '@int/p4vm/internals';
import { checkProgramFile, loadProgram } from '@int/p4vm/node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const rest = `
struct headers { h_t h; }
struct meta { }
parser P(packet_in p, out headers hdr, inout meta m, inout standard_metadata_t s) {
  state start { p.extract(hdr.h); transition accept; }
}
control V(inout headers hdr, inout meta m) { apply { } }
control I(inout headers hdr, inout meta m, inout standard_metadata_t s) { apply { s.egress_spec = PORT; } }
control E(inout headers hdr, inout meta m, inout standard_metadata_t s) { apply { } }
control C(inout headers hdr, inout meta m) { apply { } }
control D(packet_out p, in headers hdr) { apply { p.emit(hdr); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
`;

let folder = '';
const path = (name: string): string => join(folder, name);

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'int-p4vm-'));
  await mkdir(path('lib/deep'), { recursive: true });
  await writeFile(
    path('main.p4'),
    `#include <core.p4>\n#include <v1model.p4>\n#include "lib/header.p4"\n#include <port.p4>\n${rest}`,
  );
  // Beside the file that includes it, not beside the program.
  await writeFile(path('lib/header.p4'), '#include "deep/width.p4"\nheader h_t { bit<WIDTH> a; }\n');
  await writeFile(path('lib/deep/width.p4'), '#ifndef WIDTH\n#define WIDTH 8\n#endif\n');
  await mkdir(path('first'));
  await mkdir(path('second'));
  await writeFile(path('first/port.p4'), '#define PORT 5\n');
  await writeFile(path('second/port.p4'), '#define PORT 6\n');
});

afterAll(async () => {
  await rm(folder, { recursive: true });
});

const includePaths = (...names: string[]) => ({ includePaths: names.map(path) });

describe('loadProgram', () => {
  it('finds includes beside the files that include them, and in the folders given, in their order', () => {
    const first = createSwitch(loadProgram(path('main.p4'), includePaths('first', 'second')));
    expect(first.process(0, Uint8Array.of(1, 2))).toEqual([{ port: 5, frame: Uint8Array.of(1, 2) }]);
    const second = createSwitch(loadProgram(path('main.p4'), includePaths('second', 'first')));
    expect(second.process(0, Uint8Array.of(1, 2))[0]?.port).toBe(6);
  });

  it('takes macros', () => {
    const program = loadProgram(path('main.p4'), { ...includePaths('first'), defines: { WIDTH: '16' } });
    expect(program.headers.fields[0]?.type).toMatchObject({ fields: [{ name: 'a', type: { width: 16 } }] });
  });

  it('throws what is wrong, with the file and line of the include', async () => {
    expect(() => loadProgram(path('main.p4'))).toThrow(P4Error);
    const { program, diagnostics } = checkProgramFile(path('main.p4'));
    expect(program).toBeUndefined();
    const { span } = diagnostics.list[0]!;
    expect([span.file.name, lineColumn(span.file, span.start).line]).toEqual([path('main.p4'), 4]);
    await writeFile(path('lib/bad.p4'), 'header h_t { bit<8> a; }\nconst bit<8> X = nothing;\n');
    await writeFile(path('bad.p4'), `#include <v1model.p4>\n#define PORT 1\n#include "lib/bad.p4"\n${rest}`);
    const bad = checkProgramFile(path('bad.p4')).diagnostics.list[0]!;
    expect([bad.span.file.name, lineColumn(bad.span.file, bad.span.start).line]).toEqual([path('lib/bad.p4'), 2]);
  });

  it('throws the error of the file system if the program cannot be read', () => {
    expect(() => loadProgram(path('none.p4'))).toThrow(/ENOENT/);
    expect(() => loadProgram(folder)).toThrow(/EISDIR/);
  });
});
