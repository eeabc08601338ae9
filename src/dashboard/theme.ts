/** The look: the colours of the pages that the edge and the API make by themselves, in Mantine's terms. All pairs have a contrast of 4.5 and more. */
import {
  Anchor,
  type CSSVariablesResolver,
  createTheme,
  defaultVariantColorsResolver,
  Menu,
  Modal,
  Tooltip,
  type VariantColorsResolver,
} from '@mantine/core';
import { CULVERT, DARK } from './colours.ts';

/** Mantine takes the words on a filled button for those of the light scheme; in the dark one our colour is light, and so its words are dark. */
const colorsOf: VariantColorsResolver = (input) => {
  const colors = defaultVariantColorsResolver(input);
  const isOurs = input.variant === 'filled' && (input.color === undefined || input.color === 'culvert');
  return isOurs ? { ...colors, color: 'var(--mantine-primary-color-contrast)' } : colors;
};

export const THEME = createTheme({
  colors: { culvert: CULVERT, dark: DARK },
  primaryColor: 'culvert',
  primaryShade: { light: 8, dark: 4 },
  autoContrast: true,
  variantColorResolver: colorsOf,
  luminanceThreshold: 0.35,
  defaultRadius: 'md',
  fontFamily: 'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif',
  fontFamilyMonospace: 'ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace',
  headings: { fontWeight: '600' },
  cursorType: 'pointer',
  // Dialogs and menus appear and go at once for users who asked their system for that.
  respectReducedMotion: true,
  components: {
    // A colour alone would not tell a link from the text around it.
    Anchor: Anchor.extend({ defaultProps: { underline: 'always' } }),
    // Its placeholder is a child that a menu may not have.
    Menu: Menu.extend({ defaultProps: { withInitialFocusPlaceholder: false } }),
    // The title is over the labels of its dialog.
    Modal: Modal.extend({
      defaultProps: { centered: true, closeButtonProps: { 'aria-label': 'Close' } },
      styles: { title: { fontWeight: 600 } },
    }),
    Tooltip: Tooltip.extend({ defaultProps: { withArrow: true, openDelay: 300 } }),
  },
});

export const CSS_VARIABLES: CSSVariablesResolver = () => ({
  variables: {},
  light: {
    '--mantine-color-dimmed': '#5b6662',
    '--mantine-color-placeholder': '#66716d',
    '--mantine-color-error': '#a4262c',
    '--culvert-ground': '#f4f5f4',
    '--culvert-line': '#d5dad7',
    '--culvert-phrase': '#eaf3f0',
    '--culvert-blue': '#1d5a96',
    '--culvert-amber': '#8a5a00',
  },
  dark: {
    '--mantine-color-dimmed': 'var(--mantine-color-dark-2)',
    '--mantine-color-placeholder': 'var(--mantine-color-dark-2)',
    '--mantine-color-error': '#ff9b9b',
    '--culvert-ground': 'var(--mantine-color-dark-8)',
    '--culvert-line': 'var(--mantine-color-dark-4)',
    '--culvert-phrase': '#15302a',
    '--culvert-blue': '#86bdf2',
    '--culvert-amber': '#e8b95a',
  },
});
