CREATE TABLE `instance_settings` (
	`key` text PRIMARY KEY NOT NULL,
	`value` text,
	`sealed_value` text,
	`updated_at` integer NOT NULL
);
