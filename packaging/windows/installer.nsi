; Installer and uninstaller of SAPO Desktop for Windows; package.py calls makensis with the names in capitals.
;
;   setup.exe                     for this user, without administrator's rights; as administrator it asks
;   setup.exe /S                  the same without a question
;     /AllUsers or /CurrentUser   for whom (an administrator; the default is this user)
;     /Autostart                  start at login, into the tray
;     /D=FOLDER                   where to; comes last, without quotes
;   uninstall.exe [/S]            /Delete takes models and history too, which are kept otherwise
;
; Exit codes: 0 done, 1 cancelled by the user, 2 not done: the program runs, or rights are missing.
;
; A newer version replaces an older one. Everything is unpacked next to it first, so a failure leaves the old one.
Unicode true
Target amd64-unicode
SetCompressor ${COMPRESSOR}
RequestExecutionLevel user
ManifestDPIAware true
ManifestSupportedOS {8e0f7a12-bfb3-4fe8-b9a5-48fd50a15a9a}
!include "MUI2.nsh"
!include "FileFunc.nsh"
!include "LogicLib.nsh"
!include "WinVer.nsh"
!include "Win/COM.nsh"
!include "Win/Propkey.nsh"

!define NAME "SAPO Desktop"
!define KEY "Software\SAPO Desktop"
!define UNINSTALL "Software\Microsoft\Windows\CurrentVersion\Uninstall\SAPO Desktop"
!define RUN "Software\Microsoft\Windows\CurrentVersion\Run"
!define RUNTIME "SOFTWARE\Microsoft\VisualStudio\14.0\VC\Runtimes\X64"

Name "${NAME}"
OutFile "${OUT}"
VIProductVersion "${NUMBERS}.0"
VIAddVersionKey ProductName "${NAME}"
VIAddVersionKey ProductVersion "${VERSION}"
VIAddVersionKey FileVersion "${VERSION}"
VIAddVersionKey FileDescription "Installs ${NAME}"
VIAddVersionKey LegalCopyright "SAPO Desktop contributors, Apache-2.0"

!define MUI_ICON "${ICON}"
!define MUI_UNICON "${ICON}"
!define MUI_FINISHPAGE_RUN "$INSTDIR\sapo-desktop-window.exe"
!define MUI_COMPONENTSPAGE_NODESC
!insertmacro MUI_PAGE_COMPONENTS
!insertmacro MUI_PAGE_INSTFILES
!insertmacro MUI_PAGE_FINISH
!insertmacro MUI_UNPAGE_CONFIRM
!insertmacro MUI_UNPAGE_INSTFILES
!insertmacro MUI_LANGUAGE "English"
!insertmacro MUI_LANGUAGE "German"

LangString Everybody ${LANG_ENGLISH} "Install for everybody who uses this computer? (No: for you alone.)"
LangString Everybody ${LANG_GERMAN} "Für alle installieren, die diesen Computer benutzen? (Nein: nur für dich.)"
LangString NoRights ${LANG_ENGLISH} "To install for all users, start this installer as administrator."
LangString NoRights ${LANG_GERMAN} "Um für alle Benutzer zu installieren, starte dieses Installationsprogramm als Administrator."
LangString TooOld ${LANG_ENGLISH} "${NAME} needs a 64-bit Windows 10 or newer."
LangString TooOld ${LANG_GERMAN} "${NAME} braucht ein 64-Bit-Windows ab Version 10."
LangString Runs ${LANG_ENGLISH} "${NAME} is running. Quit it (in its tray menu), then try again."
LangString Runs ${LANG_GERMAN} "${NAME} läuft. Beende es (in seinem Menü im Infobereich), dann versuche es noch einmal."
LangString Program ${LANG_ENGLISH} "Program"
LangString Program ${LANG_GERMAN} "Programm"
LangString AtLogin ${LANG_ENGLISH} "Start at login, into the tray"
LangString AtLogin ${LANG_GERMAN} "Beim Anmelden starten, im Infobereich"
LangString NoRuntime ${LANG_ENGLISH} "To learn, and not only to answer, ${NAME} needs Microsoft's Visual C++ runtime, which is not on this computer. It can be had from https://aka.ms/vs/17/release/vc_redist.x64.exe. The engine pack itself is fetched on the Model page."
LangString NoRuntime ${LANG_GERMAN} "Zum Lernen, nicht nur zum Antworten, braucht ${NAME} die Visual-C++-Laufzeit von Microsoft, die auf diesem Computer fehlt. Es gibt sie unter https://aka.ms/vs/17/release/vc_redist.x64.exe. Das Lernpaket selbst lädst du auf der Seite Modell."
LangString Cut ${LANG_ENGLISH} "The files could not be put in place: $INSTDIR cannot be written, or the disk is full. Make room or choose another folder, then try again."
LangString Cut ${LANG_GERMAN} "Die Dateien ließen sich nicht ablegen: $INSTDIR ist nicht beschreibbar, oder die Platte ist voll. Schaffe Platz oder wähle einen anderen Ordner, dann versuche es noch einmal."
LangString Yours ${LANG_ENGLISH} "Delete your models, checkpoints and history too? This cannot be undone.$\n$\n"
LangString Yours ${LANG_GERMAN} "Auch deine Modelle, Checkpoints und den Verlauf löschen? Das lässt sich nicht rückgängig machen.$\n$\n"

!macro Refuse message
    MessageBox MB_OK|MB_ICONSTOP "${message}" /SD IDOK
    SetErrorLevel 2
    Quit
!macroend

; A program that runs can be renamed, but not be written to.
!macro WaitUntilEnded un
Function ${un}WaitUntilEnded
    try:
    ClearErrors
    ${For} $R1 0 1
        StrCpy $R0 "$INSTDIR\python\python.exe"
        ${If} $R1 = 1
            StrCpy $R0 "$INSTDIR\python\pythonw.exe"
        ${EndIf}
        ${If} ${FileExists} "$R0"
            FileOpen $R2 "$R0" a
            ${If} ${Errors}
                MessageBox MB_RETRYCANCEL|MB_ICONEXCLAMATION "$(Runs)" /SD IDCANCEL IDRETRY try
                SetErrorLevel 2
                Quit
            ${EndIf}
            FileClose $R2
        ${EndIf}
    ${Next}
FunctionEnd
!macroend
!insertmacro WaitUntilEnded ""
!insertmacro WaitUntilEnded "un."

; Only files of the installer: a folder that the user named with /D keeps everything else.
!macro RemoveProgram
    RMDir /r "$INSTDIR\python"
    RMDir /r "$INSTDIR\app"
    RMDir /r "$INSTDIR\licences"
    Delete "$INSTDIR\sapo-desktop.exe"
    Delete "$INSTDIR\sapo-desktop-window.exe"
    Delete "$INSTDIR\sapo-desktop.ico"
    Delete "$INSTDIR\sbom.json"
    Delete "$INSTDIR\uninstall.exe"
!macroend

!macro PutInPlace name
    Rename "$INSTDIR\new\${name}" "$INSTDIR\${name}"
!macroend

; By this name Windows knows that a window belongs to the menu's entry, and a pinned window what to start
; (sapo_desktop/gui/shell/app.py gives it to the process). Where it cannot be put in, the entry stays without.
!macro NameApplication link
    !insertmacro ComHlpr_CreateInProcInstance ${CLSID_ShellLink} ${IID_IShellLink} r0 ""
    ${If} $0 P<> 0
        ${IUnknown::QueryInterface} $0 '("${IID_IPersistFile}",.r1)'
        ${If} $1 P<> 0
            ${IPersistFile::Load} $1 '("${link}",${STGM_READWRITE})'
            ${IUnknown::QueryInterface} $0 '("${IID_IPropertyStore}",.r2)'
            ${If} $2 P<> 0
                System::Call '*(&w64 "${APP_ID}")p.r3'
                System::Call '*${SYSSTRUCT_PROPERTYKEY}(${PKEY_AppUserModel_ID})p.r4'
                System::Call '*(&i2 ${VT_LPWSTR},&i6 0,p r3,p 0)p.r5'
                ${IPropertyStore::SetValue} $2 '($4,$5)'
                ${IPropertyStore::Commit} $2 ""
                System::Free $3
                System::Free $4
                System::Free $5
                ${IUnknown::Release} $2 ""
                ${IPersistFile::Save} $1 '("${link}",1)'
            ${EndIf}
            ${IUnknown::Release} $1 ""
        ${EndIf}
        ${IUnknown::Release} $0 ""
    ${EndIf}
!macroend

Var everybody
Var administrator

!macro AreYouAdministrator
    UserInfo::GetAccountType
    Pop $0
    StrCpy $administrator 0
    ${If} $0 == "Admin"
        StrCpy $administrator 1
    ${EndIf}
!macroend

Function .onInit
    ${IfNot} ${AtLeastWin10}
        !insertmacro Refuse "$(TooOld)"
    ${EndIf}
    !insertmacro AreYouAdministrator
    StrCpy $everybody 0
    ${GetParameters} $R9
    ClearErrors
    ${GetOptions} $R9 "/AllUsers" $0
    ${IfNot} ${Errors}
        StrCpy $everybody 1
    ${Else}
        ClearErrors
        ${GetOptions} $R9 "/CurrentUser" $0
        ${If} ${Errors}
        ${AndIf} $administrator = 1
            MessageBox MB_YESNO|MB_ICONQUESTION|MB_DEFBUTTON2 "$(Everybody)" /SD IDNO IDNO +2
            StrCpy $everybody 1
        ${EndIf}
    ${EndIf}
    ${If} $everybody = 1
        ${If} $administrator = 0
            !insertmacro Refuse "$(NoRights)"
        ${EndIf}
        SetShellVarContext all
    ${Else}
        SetShellVarContext current
    ${EndIf}
    ${If} $INSTDIR == ""  ; no /D
        ReadRegStr $INSTDIR SHCTX "${KEY}" "Folder"
    ${EndIf}
    ${If} $INSTDIR == ""
        ${If} $everybody = 1
            StrCpy $INSTDIR "$PROGRAMFILES64\${NAME}"
        ${Else}
            StrCpy $INSTDIR "$LOCALAPPDATA\Programs\${NAME}"
        ${EndIf}
    ${EndIf}
    ClearErrors
    ${GetOptions} $R9 "/Autostart" $0
    ${IfNot} ${Errors}
        SectionSetFlags 1 1
    ${EndIf}
FunctionEnd

Section "$(Program)"
    SectionIn RO
    Call WaitUntilEnded
    RMDir /r "$INSTDIR\new"
    ClearErrors
    SetOutPath "$INSTDIR\new"
    File /r "${TREE}/*"
    WriteUninstaller "$INSTDIR\new\uninstall.exe"
    ${If} ${Errors}
        SetOutPath "$TEMP"
        RMDir /r "$INSTDIR\new"
        RMDir "$INSTDIR"
        !insertmacro Refuse "$(Cut)"
    ${EndIf}
    SetOutPath "$TEMP"  ; the folder that is the current one cannot be renamed
    !insertmacro RemoveProgram
    ClearErrors
    !insertmacro PutInPlace "python"
    !insertmacro PutInPlace "app"
    !insertmacro PutInPlace "licences"
    !insertmacro PutInPlace "sapo-desktop.exe"
    !insertmacro PutInPlace "sapo-desktop-window.exe"
    !insertmacro PutInPlace "sapo-desktop.ico"
    !insertmacro PutInPlace "sbom.json"
    !insertmacro PutInPlace "uninstall.exe"
    ${If} ${Errors}
        !insertmacro Refuse "$(Cut)"
    ${EndIf}
    RMDir "$INSTDIR\new"

    CreateShortcut "$SMPROGRAMS\${NAME}.lnk" "$INSTDIR\sapo-desktop-window.exe" "" "$INSTDIR\sapo-desktop.ico"
    !insertmacro NameApplication "$SMPROGRAMS\${NAME}.lnk"
    WriteRegStr SHCTX "${KEY}" "Folder" "$INSTDIR"
    WriteRegStr SHCTX "Software\Classes\sapo" "" "URL:${NAME}"
    WriteRegStr SHCTX "Software\Classes\sapo" "URL Protocol" ""
    WriteRegStr SHCTX "Software\Classes\sapo\DefaultIcon" "" "$INSTDIR\sapo-desktop.ico"
    WriteRegStr SHCTX "Software\Classes\sapo\shell\open\command" "" '"$INSTDIR\sapo-desktop-window.exe" "%1"'
    WriteRegStr SHCTX "${UNINSTALL}" "DisplayName" "${NAME}"
    WriteRegStr SHCTX "${UNINSTALL}" "DisplayVersion" "${VERSION}"
    WriteRegStr SHCTX "${UNINSTALL}" "DisplayIcon" "$INSTDIR\sapo-desktop.ico"
    WriteRegStr SHCTX "${UNINSTALL}" "Publisher" "SAPO Desktop contributors"
    WriteRegStr SHCTX "${UNINSTALL}" "InstallLocation" "$INSTDIR"
    WriteRegStr SHCTX "${UNINSTALL}" "UninstallString" '"$INSTDIR\uninstall.exe"'
    WriteRegStr SHCTX "${UNINSTALL}" "QuietUninstallString" '"$INSTDIR\uninstall.exe" /S'
    WriteRegDWORD SHCTX "${UNINSTALL}" "EstimatedSize" ${KILOBYTES}
    WriteRegDWORD SHCTX "${UNINSTALL}" "NoModify" 1
    WriteRegDWORD SHCTX "${UNINSTALL}" "NoRepair" 1

    ReadRegDWORD $0 HKLM "${RUNTIME}" "Installed"
    ${If} $0 <> 1
        DetailPrint "$(NoRuntime)"
        MessageBox MB_OK|MB_ICONINFORMATION "$(NoRuntime)" /SD IDOK
    ${EndIf}
SectionEnd

Section /o "$(AtLogin)"
    WriteRegStr HKCU "${RUN}" "sapo-desktop" '"$INSTDIR\sapo-desktop-window.exe" --tray'
SectionEnd

Function un.onInit
    SetShellVarContext current
    ReadRegStr $0 HKCU "${KEY}" "Folder"
    ${If} $0 != $INSTDIR
        !insertmacro AreYouAdministrator
        ${If} $administrator = 0
            !insertmacro Refuse "$(NoRights)"
        ${EndIf}
        SetShellVarContext all
    ${EndIf}
FunctionEnd

Section "Uninstall"
    Call un.WaitUntilEnded
    !insertmacro RemoveProgram
    RMDir "$INSTDIR"
    Delete "$SMPROGRAMS\${NAME}.lnk"
    DeleteRegKey SHCTX "${KEY}"
    DeleteRegKey SHCTX "${UNINSTALL}"
    DeleteRegKey SHCTX "Software\Classes\sapo"

    ; One entry for each data folder that was to start at login.
    StrCpy $0 0
    ${Do}
        EnumRegValue $1 HKCU "${RUN}" $0
        ${If} $1 == ""
            ${Break}
        ${EndIf}
        StrCpy $2 $1 12
        ${If} $2 == "sapo-desktop"
            DeleteRegValue HKCU "${RUN}" "$1"
        ${Else}
            IntOp $0 $0 + 1
        ${EndIf}
    ${Loop}

    SetShellVarContext current
    StrCpy $3 "$LOCALAPPDATA\sapo-desktop"
    RMDir /r "$3\engine"
    ${If} ${FileExists} "$3\*.*"
        ${GetParameters} $R9
        ClearErrors
        ${GetOptions} $R9 "/Delete" $0
        ${If} ${Errors}
            MessageBox MB_YESNO|MB_ICONQUESTION|MB_DEFBUTTON2 "$(Yours)$3" /SD IDNO IDNO kept
        ${EndIf}
        RMDir /r "$3"
        kept:
    ${EndIf}
SectionEnd
