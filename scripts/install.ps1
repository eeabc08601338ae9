<#
Installs the program of a Culvert release on Windows, after it has verified signature and checksum:

  powershell -ExecutionPolicy Bypass -File install.ps1 -From https://example.com/releases/1.0.0     or a folder

  -To DIR              where the program goes (%LOCALAPPDATA%\Programs\culvert)
  -NoVerifySignature   install without a check of the signature

Windows has no program that checks Ed25519 signatures. This script uses OpenSSL 3, which Git for Windows brings along.
#>
param(
  [Parameter(Mandatory = $true)][string]$From,
  [string]$To = (Join-Path $env:LOCALAPPDATA 'Programs\culvert'),
  [switch]$NoVerifySignature
)
Set-StrictMode -Version 2
$ErrorActionPreference = 'Stop'
$ProgressPreference = 'SilentlyContinue' # its bar makes downloads many times slower

# The public key of releases, second line of culvert.pub. `npm run release` writes it here.
$Key = '@RELEASE_KEY@'
$From = $From.TrimEnd('/', '\')
$work = Join-Path ([IO.Path]::GetTempPath()) ([Guid]::NewGuid().ToString())

function Fail([string]$Text) { throw "install.ps1: $Text" }

# Gets a file of the release; false when it is not there.
function Get-ReleaseFile([string]$Name) {
  $file = Join-Path $work $Name
  try {
    if ($From -match '^https?://') { Invoke-WebRequest -UseBasicParsing -Uri "$From/$Name" -OutFile $file }
    else { Copy-Item -LiteralPath (Join-Path $From $Name) -Destination $file }
    return $true
  } catch {
    return $false
  }
}

# OpenSSL with Ed25519 for files, in PATH or beside Git.
function Find-OpenSsl {
  $places = @('openssl.exe', "$env:ProgramFiles\Git\usr\bin\openssl.exe", "$env:ProgramFiles\Git\mingw64\bin\openssl.exe")
  foreach ($place in $places) {
    $found = Get-Command $place -CommandType Application -ErrorAction SilentlyContinue | Select-Object -First 1
    if ($found -and ((& $found.Source version) -match '^OpenSSL ([3-9]|\d\d)')) { return $found.Source }
  }
  return $null
}

# The last bytes of a base64 line.
function Get-LastBytes([string]$Line, [int]$Count) {
  $bytes = [Convert]::FromBase64String($Line.Trim())
  return [byte[]]($bytes[($bytes.Length - $Count)..($bytes.Length - 1)])
}

function Assert-Signature {
  if ($NoVerifySignature) {
    Write-Warning 'The signature is not verified (-NoVerifySignature). The checksum is.'
    return
  }
  if ($Key.StartsWith('@')) { Fail 'this install.ps1 has no key: use the one of a release' }
  if (-not (Get-ReleaseFile 'SHA256SUMS.sig')) { Fail "there is no SHA256SUMS.sig at $From, so the release can not be verified" }
  $openssl = Find-OpenSsl
  if (-not $openssl) { Fail 'the signature can not be verified: install OpenSSL 3 or Git for Windows. -NoVerifySignature installs without.' }
  $head = [byte[]](0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00)
  [IO.File]::WriteAllBytes("$work\key.der", [byte[]]($head + (Get-LastBytes $Key 32)))
  $line = Get-Content -LiteralPath "$work\SHA256SUMS.sig" | Select-Object -Last 1
  [IO.File]::WriteAllBytes("$work\sig.raw", (Get-LastBytes $line 64))
  $arguments = @('pkeyutl', '-verify', '-pubin', '-inkey', "$work\key.der", '-keyform', 'DER', '-rawin', '-in', "$work\SHA256SUMS", '-sigfile', "$work\sig.raw")
  $checked = Start-Process -FilePath $openssl -ArgumentList ($arguments | ForEach-Object { "`"$_`"" }) -NoNewWindow -Wait -PassThru
  if ($checked.ExitCode -ne 0) { Fail 'the signature of SHA256SUMS is not valid. Nothing was installed.' }
}

try {
  New-Item -ItemType Directory -Path $work | Out-Null
  if (-not (Get-ReleaseFile 'SHA256SUMS')) { Fail "there is no SHA256SUMS at $From. Give the address or folder of a release with -From." }
  Assert-Signature
  $lines = @(Get-Content -LiteralPath "$work\SHA256SUMS" | Where-Object { $_ -match '^[0-9a-f]{64} [ *]culvert-\d[A-Za-z0-9.+-]*-windows-x64\.zip$' })
  if ($lines.Count -ne 1) { Fail "the release at $From has no archive for windows-x64" }
  $archive = $lines[0].Substring(66)
  if (-not (Get-ReleaseFile $archive)) { Fail "$archive could not be fetched from $From" }
  if ((Get-FileHash -LiteralPath "$work\$archive" -Algorithm SHA256).Hash -ne $lines[0].Substring(0, 64)) {
    Fail "$archive is not the file of the release: its checksum differs. Nothing was installed."
  }
  Expand-Archive -LiteralPath "$work\$archive" -DestinationPath "$work\unpacked"
  $program = Join-Path "$work\unpacked" (Join-Path ([IO.Path]::GetFileNameWithoutExtension($archive)) 'culvert.exe')
  $version = & $program version
  if ($LASTEXITCODE -ne 0) { Fail 'the program does not start on this machine. Nothing was installed.' }
  New-Item -ItemType Directory -Force -Path $To | Out-Null
  $target = Join-Path $To 'culvert.exe'
  Copy-Item -LiteralPath $program -Destination "$target.new" -Force
  # Windows replaces no program that runs, but renames it.
  if (Test-Path -LiteralPath $target) { Move-Item -LiteralPath $target -Destination (Join-Path $To 'culvert.old.exe') -Force }
  Move-Item -LiteralPath "$target.new" -Destination $target
  Write-Output "Installed: $target, $version"
  if (($env:Path -split ';') -notcontains $To) { Write-Output "Add $To to your PATH to run it as: culvert" }
  Write-Output 'For completion in PowerShell, see: culvert help completion'
  Write-Output 'Next: culvert login'
} finally {
  Remove-Item -LiteralPath $work -Recurse -Force -ErrorAction SilentlyContinue
}
