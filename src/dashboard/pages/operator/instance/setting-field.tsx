/** One setting of the server. Where the settings file sets it, it is shown, and can't be changed. */
import { PasswordInput, Select, Switch, TextInput } from '@mantine/core';
import { type Field, lockText, secretText, type Setting, type Value } from './fields.ts';

interface SettingFieldProps {
  readonly field: Field;
  readonly setting: Setting;
  readonly value: Value;
  readonly error: string | undefined;
  readonly onChange: (value: Value) => void;
}

export function SettingField({ field, setting, value, error, onChange }: SettingFieldProps) {
  const { label, kind, help, placeholder, choices = [] } = field;
  const lock = lockText(setting);
  const shared = { label, error, disabled: lock !== undefined, description: lock ?? help, maw: 480 };
  switch (kind) {
    case 'switch':
      return (
        <Switch {...shared} checked={value === true} onChange={(event) => onChange(event.currentTarget.checked)} />
      );
    case 'choice':
      return (
        <Select
          {...shared}
          data={[...choices]}
          allowDeselect={false}
          value={String(value)}
          onChange={(chosen) => onChange(chosen ?? '')}
        />
      );
    case 'secret':
      return (
        <PasswordInput
          {...shared}
          description={lock ?? [secretText(setting), help].filter((text) => text !== undefined).join(' ')}
          placeholder={placeholder}
          autoComplete="new-password"
          value={String(value)}
          onChange={(event) => onChange(event.currentTarget.value)}
        />
      );
    default:
      return (
        <TextInput
          {...shared}
          placeholder={placeholder}
          autoComplete="off"
          value={String(value)}
          onChange={(event) => onChange(event.currentTarget.value)}
        />
      );
  }
}
