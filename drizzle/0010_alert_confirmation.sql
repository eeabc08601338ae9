ALTER TABLE `alert_channels` ADD `confirm_hash` text;--> statement-breakpoint
ALTER TABLE `alert_channels` ADD `confirm_until` integer;--> statement-breakpoint
CREATE INDEX `alert_channels_confirm` ON `alert_channels` (`confirm_hash`) WHERE confirm_hash IS NOT NULL;