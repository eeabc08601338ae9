/** The sign of each kind of action. */
import {
  IconArrowBarToDown,
  IconArrowBarToUp,
  IconFolderOff,
  IconGauge,
  IconMapPin,
  IconMapPinOff,
  IconShield,
  IconShieldLock,
  type Icon,
} from '@tabler/icons-react';
import type { Kind } from './kinds.ts';

const ICONS: Readonly<Record<Kind, Icon>> = {
  ip_deny: IconMapPinOff,
  ip_allow: IconMapPin,
  deny: IconFolderOff,
  jwt_validation: IconShieldLock,
  rate_limit: IconGauge,
  header_set: IconArrowBarToDown,
  response_header_set: IconArrowBarToUp,
};

export function iconOf(kind: string): Icon {
  return kind in ICONS ? ICONS[kind as Kind] : IconShield;
}
