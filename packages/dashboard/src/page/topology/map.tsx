import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { TopologyAnswer } from '../../client/index.js';
import { countText, percentText } from '../format/text.js';
import { useKeys } from '../state/keyboard.js';
import { entityName, switchName } from '../state/network.js';
import { theme } from '../state/theme.js';
import { layoutOf } from './layout.js';
import { type Picked, Picture, shadeOf } from './picture.js';

interface MapProps {
  readonly topology: TopologyAnswer;
  readonly picked: Picked | null;
  readonly path: readonly (number | null)[];
  readonly onPick: (picked: Picked | null) => void;
}

/** The network as a picture: wheel and drag move it, a click selects. What it shows is also in the lists beside it. */
export function NetworkMap({ topology, picked, path, onPick }: MapProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const picture = useRef<Picture | null>(null);
  const [hint, setHint] = useState<{ x: number; y: number; text: string } | null>(null);
  const shape = shapeOf(topology);
  const layout = useMemo(() => layoutOf(topology), [shape]);
  const shown = theme.value;

  const draw = (): void => picture.current?.draw(topology, layout, { theme: shown, name: switchName, picked, path });
  const latest = useRef(draw);
  latest.current = draw;

  useEffect(() => {
    const element = canvas.current!;
    const created = new Picture(element);
    picture.current = created;
    const observer = new ResizeObserver(() => {
      const { clientWidth, clientHeight } = element.parentElement!;
      created.resize(clientWidth, clientHeight);
      latest.current();
    });
    observer.observe(element.parentElement!);
    return () => observer.disconnect();
  }, []);
  // What came is drawn with the next frame, however often it comes.
  useEffect(() => {
    const frame = requestAnimationFrame(() => latest.current());
    return () => cancelAnimationFrame(frame);
  }, [topology, layout, shown, picked, path]);

  const zoom = (by: number): void => {
    picture.current?.zoom(by);
    latest.current();
  };
  useKeys([
    { key: 'i', text: 'zoom in on the map', run: () => zoom(1.3) },
    { key: 'o', text: 'zoom out', run: () => zoom(1 / 1.3) },
    {
      key: '0',
      text: 'the whole map',
      run: () => {
        picture.current?.fit();
        latest.current();
      },
    },
  ]);

  return (
    <div class="map">
      <canvas
        ref={canvas}
        role="img"
        aria-label={`Map of ${topology.switches.length} switches and ${topology.links.length} links; the lists beside it tell the same`}
        onWheel={(event) => {
          event.preventDefault();
          picture.current?.zoom(event.deltaY < 0 ? 1.2 : 1 / 1.2, event.offsetX, event.offsetY);
          draw();
        }}
        onPointerMove={(event) => {
          if ((event.buttons & 1) === 1) {
            picture.current?.shift(event.movementX, event.movementY);
            draw();
          }
          const found = picture.current?.find(event.offsetX, event.offsetY) ?? null;
          setHint(found === null ? null : { x: event.offsetX, y: event.offsetY, text: hintOf(found, topology) });
        }}
        onPointerLeave={() => setHint(null)}
        onClick={(event) => onPick(picture.current?.find(event.offsetX, event.offsetY) ?? null)}
      />
      {hint !== null && (
        <div class="hint" style={{ left: `${hint.x + 12}px`, top: `${hint.y + 14}px` }}>
          {hint.text}
        </div>
      )}
      <div class="scale" aria-hidden="true">
        <span>load 0 %</span>
        {Array.from({ length: 12 }, (_, k) => (
          <i key={shadeOf(shown, k / 11)} style={{ background: shadeOf(shown, k / 11) }} />
        ))}
        <span>100 %</span>
        <span class="down">╳ down</span>
      </div>
    </div>
  );
}

/** Changes if switches or links do, and not with their loads. */
const shapeOf = ({ switches, links, hosts }: TopologyAnswer): string =>
  `${switches.map(({ id, tier }) => `${id}.${tier}`).join()} ${links.map(({ key }) => key).join()} ${hosts.length}`;

function hintOf(picked: Picked, { links }: TopologyAnswer): string {
  if (picked.kind === 'switch') return switchName(picked.id);
  const link = links.find(({ key }) => key === picked.key);
  if (link === undefined) return '';
  const state =
    link.state === 'up' ? `${percentText(link.load)}, ${countText(link.reportsPerSecond)} reports/s` : link.state;
  return `${entityName(link.key)}: ${state}`;
}
