import { effect, signal } from '@preact/signals';

type Theme = 'light' | 'dark';

const KEPT = 'int-dashboard-theme';
const isDark = matchMedia('(prefers-color-scheme: dark)');
const system = (): Theme => (isDark.matches ? 'dark' : 'light');

function chosen(): Theme | null {
  try {
    const kept = localStorage.getItem(KEPT);
    return kept === 'light' || kept === 'dark' ? kept : null;
  } catch {
    return null;
  }
}

/** That of the system, until somebody chooses. */
export const theme = signal<Theme>(chosen() ?? system());
isDark.addEventListener('change', () => {
  if (chosen() === null) theme.value = system();
});

effect(() => {
  document.documentElement.dataset.theme = theme.value;
});

export function switchTheme(): void {
  theme.value = theme.value === 'dark' ? 'light' : 'dark';
  try {
    localStorage.setItem(KEPT, theme.value);
  } catch {
    // Not kept: as good as before.
  }
}

/** A colour of the style sheet, for what is drawn on a canvas. */
export function colour(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}
